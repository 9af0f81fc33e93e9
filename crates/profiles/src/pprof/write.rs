//! From a profile to pprof.

use std::{
    collections::HashMap,
    io::{self, Write},
};

use flate2::{Compression, write::GzEncoder};
use prost::Message;

use super::{
    super::{Event, Identities, Identity, Labels, Profile, Sample, StackEntry},
    COMMENT_CAPTURE, COMMENT_EVENT, COMMENT_QUALITY, KINDS, LABEL_CHANNEL, LABEL_CONNECTION,
    LABEL_MODE, LABEL_NAME, LABEL_OUTCOME, LABEL_PROCESS, LABEL_QUEUE, LABEL_ROLE, LABEL_THREAD,
    LABEL_VHOST, MODES, message,
};

/// Writes `profile` as gzipped pprof. Values are, for CPU time, `samples/count` and, when the period
/// is known, `cpu/nanoseconds`; for other events the number of occurrences and, when they have one,
/// their weight: `calls/count` and `mmap/bytes`, `waits/count` and `off-cpu/nanoseconds`; of traced calls
/// `time/microseconds`.
pub fn write_pprof(profile: &Profile, out: impl Write) -> io::Result<()> {
    write_compressed(profile, Compression::default(), out)
}

/// As [`write_pprof`], in a third of the time and with some more bytes.
pub fn write_pprof_fast(profile: &Profile, out: impl Write) -> io::Result<()> {
    write_compressed(profile, Compression::fast(), out)
}

fn write_compressed(profile: &Profile, level: Compression, out: impl Write) -> io::Result<()> {
    let encoded = to_message(profile)?.encode_to_vec();
    let mut gzip = GzEncoder::new(out, level);
    gzip.write_all(&encoded)?;
    gzip.finish()?.flush()
}

/// A stack with labels of somebody else's choice.
#[derive(Clone, Debug)]
pub struct LabelledStack<'a> {
    /// Root first, of frames of the profile.
    pub stack: &'a [StackEntry],
    /// Keys and values.
    pub labels: Vec<(&'static str, &'a str)>,
    /// As [`Sample::count`].
    pub count: u64,
    /// As [`Sample::weight`].
    pub weight: u64,
}

/// As [`write_pprof`], with these stacks in place of the profile's own samples, and without what only rabbitscope
/// reads: systems that store profiles make a series of every label, and charge for every byte.
pub fn write_labelled_pprof<'a>(
    profile: &Profile,
    stacks: impl IntoIterator<Item = LabelledStack<'a>>,
    out: impl Write,
) -> io::Result<()> {
    let mut strings = StringTable::new();
    let samples = stacks.into_iter().map(|it| message::Sample {
        location_id: leaf_first(it.stack),
        value: values(profile, it.count, it.weight),
        label: it
            .labels
            .iter()
            .map(|(key, text)| message::Label { key: strings.id(key), str: strings.id(text) })
            .collect(),
        times: Vec::new(),
    });
    let samples = samples.collect();
    let bare = message_of(profile, samples, strings, &[], false);
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&bare.encode_to_vec())?;
    gzip.finish()?.flush()
}

fn to_message(profile: &Profile) -> io::Result<message::Profile> {
    let mut strings = StringTable::new();
    let samples = profile.samples.iter();
    let samples = samples.map(|sample| sample_message(sample, profile, &mut strings)).collect();
    Ok(message_of(profile, samples, strings, &comments(profile)?, true))
}

fn message_of(
    profile: &Profile,
    sample: Vec<message::Sample>,
    mut strings: StringTable,
    comments: &[String],
    with_lines: bool,
) -> message::Profile {
    let (capture, event) = (&profile.capture, profile.event);
    let counts = match event {
        Event::CallTime => value_type(&mut strings, "time", "microseconds"),
        _ => value_type(&mut strings, event.occurrences(), "count"),
    };
    let unit = if event == Event::Cpu { "nanoseconds" } else { event.unit() };
    let weights = value_type(&mut strings, event.name(), unit);
    let has_period = has_period(profile);
    let has_weights = has_period || event.is_weighted();
    message::Profile {
        sample_type: if has_weights { vec![counts, weights] } else { vec![counts] },
        sample,
        mapping: mappings(&mut strings),
        location: locations(profile),
        function: functions(profile, &mut strings),
        time_nanos: to_i64(capture.started_unix_nanos),
        duration_nanos: to_i64(capture.duration_nanos),
        period_type: has_period.then_some(weights),
        period: if has_period { to_i64(capture.period_nanos) } else { 0 },
        comment: comments.iter().map(|text| strings.id(text)).collect(),
        default_sample_type: if has_weights { weights.r#type } else { counts.r#type },
        source_line: if with_lines { source_lines(profile, &mut strings) } else { Vec::new() },
        string_table: strings.into_strings(),
    }
}

fn has_period(profile: &Profile) -> bool {
    profile.event == Event::Cpu && profile.capture.period_nanos > 0
}

fn value_type(strings: &mut StringTable, name: &str, unit: &str) -> message::ValueType {
    message::ValueType { r#type: strings.id(name), unit: strings.id(unit) }
}

fn comments(profile: &Profile) -> io::Result<[String; 3]> {
    Ok([
        format!("{COMMENT_EVENT}{}", profile.event.name()),
        format!("{COMMENT_CAPTURE}{}", serde_json::to_string(&profile.capture)?),
        format!("{COMMENT_QUALITY}{}", serde_json::to_string(&profile.quality)?),
    ])
}

fn sample_message(
    sample: &Sample,
    profile: &Profile,
    strings: &mut StringTable,
) -> message::Sample {
    message::Sample {
        location_id: leaf_first(&sample.stack),
        value: values(profile, sample.count, sample.weight),
        label: labels(&sample.labels, &profile.identities, strings),
        times: sample.times.bytes().to_vec(),
    }
}

fn leaf_first(stack: &[StackEntry]) -> Vec<u64> {
    let entries = stack.iter().rev();
    let ids = entries
        .flat_map(|entry| std::iter::repeat_n(u64::from(entry.frame.0) + 1, entry.repeat as usize));
    ids.collect()
}

/// One for each sample type.
fn values(profile: &Profile, count: u64, weight: u64) -> Vec<i64> {
    let mut values = vec![to_i64(count)];
    if profile.event.is_weighted() {
        values.push(to_i64(weight));
    } else if has_period(profile) {
        values.push(to_i64(weight.saturating_mul(profile.capture.period_nanos)));
    }
    values
}

fn labels(
    labels: &Labels,
    identities: &Identities,
    strings: &mut StringTable,
) -> Vec<message::Label> {
    let known = labels.process.as_ref().and_then(|pid| identities.get(pid));
    let mode = MODES.iter().find(|(mode, _)| *mode == labels.mode).map(|(_, name)| *name);
    [
        (LABEL_PROCESS, labels.process.as_deref()),
        (LABEL_THREAD, Some(labels.thread.as_str()).filter(|name| !name.is_empty())),
        (LABEL_MODE, mode),
        (LABEL_OUTCOME, Some(labels.outcome.name())),
    ]
    .into_iter()
    .chain(known.into_iter().flat_map(texts_of))
    .filter_map(|(key, value)| {
        value.map(|text| message::Label { key: strings.id(key), str: strings.id(text) })
    })
    .collect()
}

/// What is known of a process; empty texts are left out.
fn texts_of(identity: &Identity) -> impl Iterator<Item = (&'static str, Option<&str>)> {
    let name = match identity.role.as_str() {
        _ if identity.is_queue() => LABEL_QUEUE,
        "channel" => LABEL_CHANNEL,
        _ => LABEL_NAME,
    };
    [
        (LABEL_ROLE, identity.role.as_str()),
        (name, &identity.name),
        (LABEL_VHOST, &identity.vhost),
        (LABEL_CONNECTION, &identity.connection),
    ]
    .into_iter()
    .map(|(key, text)| (key, Some(text).filter(|text| !text.is_empty())))
}

/// One mapping for each kind of frame; ids count from 1 in the order of [`KINDS`].
fn mappings(strings: &mut StringTable) -> Vec<message::Mapping> {
    (1..)
        .zip(KINDS)
        .map(|(id, (_, file))| message::Mapping {
            id,
            memory_start: 0,
            filename: strings.id(file),
            has_functions: true,
        })
        .collect()
}

/// One location and one function for each frame, both with the frame's id plus 1.
fn locations(profile: &Profile) -> Vec<message::Location> {
    profile
        .frames
        .iter()
        .map(|(id, frame)| {
            let kind = KINDS.iter().position(|(kind, _)| *kind == frame.kind);
            let id = u64::from(id.0) + 1;
            message::Location {
                id,
                mapping_id: kind.map_or(0, |index| index as u64 + 1),
                address: 0,
                line: vec![message::Line { function_id: id }],
            }
        })
        .collect()
}

fn functions(profile: &Profile, strings: &mut StringTable) -> Vec<message::Function> {
    profile
        .frames
        .iter()
        .map(|(id, frame)| {
            let name = strings.id(&frame.name);
            message::Function { id: u64::from(id.0) + 1, name, system_name: name }
        })
        .collect()
}

fn source_lines(profile: &Profile, strings: &mut StringTable) -> Vec<message::SourceLine> {
    let lines = profile.lines.iter().map(|it| message::SourceLine {
        location_id: u64::from(it.frame.0) + 1,
        file: strings.id(&it.file),
        line: it.line,
        own: it.own,
        total: it.total,
    });
    lines.collect()
}

/// pprof counts in signed numbers; what does not fit stays at the largest.
fn to_i64(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Every string of the file, once. The first one is always empty.
struct StringTable {
    strings: Vec<String>,
    index: HashMap<String, i64>,
}

impl StringTable {
    fn new() -> Self {
        Self { strings: vec![String::new()], index: HashMap::from([(String::new(), 0)]) }
    }

    fn id(&mut self, text: &str) -> i64 {
        if let Some(&id) = self.index.get(text) {
            return id;
        }
        let id = i64::try_from(self.strings.len()).expect("fewer than 2^63 strings");
        self.strings.push(text.to_owned());
        self.index.insert(text.to_owned(), id);
        id
    }

    fn into_strings(self) -> Vec<String> {
        self.strings
    }
}
