//! Writer of pprof files.

use std::io::{self, Write};

use flate2::{Compression, write::GzEncoder};

use super::{
    super::{Event, Frame, FrameId, Identities, Identity, Labels, Profile, StackEntry},
    COMMENT_CAPTURE, COMMENT_EVENT, COMMENT_QUALITY, KINDS, LABEL_CHANNEL, LABEL_CLIENT,
    LABEL_CONNECTION, LABEL_MODE, LABEL_NAME, LABEL_OUTCOME, LABEL_PROCESS, LABEL_QUEUE,
    LABEL_ROLE, LABEL_THREAD, LABEL_VHOST, MODES,
    encode::Fields,
    strings::StringTable,
};

/// Writes `profile` as gzipped pprof, with these values:
///
/// - CPU time: `samples/count` and, if the period is known, `cpu/nanoseconds`
/// - other events: the number of occurrences and, if they have one, their weight: `calls/count` and `mmap/bytes`,
///   `waits/count` and `off-cpu/nanoseconds`
/// - traced calls: `time/microseconds`
/// - an imported value: `samples/count` and the value of its file
pub fn write_pprof(profile: &Profile, out: impl Write) -> io::Result<()> {
    write_with_all(profile, Compression::default(), out)
}

/// The fastest level with small output: below it, zlib does not build codes for the data.
const FAST: Compression = Compression::new(2);

/// Like [`write_pprof`], in less time and with some more bytes.
pub fn write_pprof_fast(profile: &Profile, out: impl Write) -> io::Result<()> {
    write_with_all(profile, FAST, out)
}

/// Writes the profile with rabbitscope's extensions.
fn write_with_all(profile: &Profile, level: Compression, out: impl Write) -> io::Result<()> {
    let comments = comments(profile)?;
    let mut message = Message::default();
    for sample in &profile.samples {
        let labels = labels(&sample.labels, &profile.identities);
        let stack = Stack { entries: &sample.stack, count: sample.count, weight: sample.weight };
        message.sample(profile, stack, labels, sample.times.bytes());
    }
    let rest = message.rest(profile, &comments, true);
    compress(&[rest.types, message.samples, rest.tables], level, out)
}

/// A stack with labels of the caller's choice.
#[derive(Clone, Debug)]
pub struct LabelledStack<'a> {
    /// Entries of the profile's frames, root first.
    pub stack: &'a [StackEntry],
    /// Pairs of key and value.
    pub labels: Vec<(&'static str, &'a str)>,
    /// Count, as in [`Sample::count`](super::super::Sample::count).
    pub count: u64,
    /// Weight, as in [`Sample::weight`](super::super::Sample::weight).
    pub weight: u64,
}

/// Like [`write_pprof`], with these stacks in place of the profile's own samples and without rabbitscope's extensions.
/// Systems that store profiles make a series of every label, and charge for every byte.
pub fn write_labelled_pprof<'a>(
    profile: &'a Profile,
    stacks: impl IntoIterator<Item = LabelledStack<'a>>,
    out: impl Write,
) -> io::Result<()> {
    let mut message = Message::default();
    for LabelledStack { stack, labels, count, weight } in stacks {
        message.sample(profile, Stack { entries: stack, count, weight }, labels, &[]);
    }
    let rest = message.rest(profile, &[], false);
    compress(&[rest.types, message.samples, rest.tables], Compression::default(), out)
}

fn compress(parts: &[Fields; 3], level: Compression, out: impl Write) -> io::Result<()> {
    let mut gzip = GzEncoder::new(out, level);
    parts.iter().try_for_each(|part| gzip.write_all(part.bytes()))?;
    gzip.finish()?.flush()
}

/// Numbers of a profile's fields.
mod field {
    pub(super) const SAMPLE_TYPE: u32 = 1;
    pub(super) const SAMPLE: u32 = 2;
    pub(super) const MAPPING: u32 = 3;
    pub(super) const LOCATION: u32 = 4;
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const STRING: u32 = 6;
    pub(super) const TIME_NANOS: u32 = 9;
    pub(super) const DURATION_NANOS: u32 = 10;
    pub(super) const PERIOD_TYPE: u32 = 11;
    pub(super) const PERIOD: u32 = 12;
    pub(super) const COMMENT: u32 = 13;
    pub(super) const DEFAULT_SAMPLE_TYPE: u32 = 14;
    /// An extension of rabbitscope.
    pub(super) const SOURCE_LINE: u32 = 1000;
    /// An extension of rabbitscope in samples.
    pub(super) const TIMES: u32 = 1000;
}

/// A partly encoded profile: its samples, and the strings that they use.
#[derive(Default)]
struct Message<'a> {
    samples: Fields,
    strings: StringTable<'a>,
}

/// The fields before and after the samples.
struct Rest {
    types: Fields,
    tables: Fields,
}

#[derive(Clone, Copy)]
struct Stack<'a> {
    /// Entries, root first.
    entries: &'a [StackEntry],
    count: u64,
    weight: u64,
}

/// Indexes of the type's strings.
#[derive(Clone, Copy)]
struct ValueType {
    name: u64,
    unit: u64,
}

impl<'a> Message<'a> {
    fn sample(
        &mut self,
        profile: &Profile,
        stack: Stack<'_>,
        labels: impl IntoIterator<Item = (&'static str, &'a str)>,
        times: &[u8],
    ) {
        let strings = &mut self.strings;
        self.samples.message(field::SAMPLE, |sample| {
            sample.packed(1, leaf_first(stack.entries));
            sample.packed(2, values(profile, stack.count, stack.weight));
            for (number, (key, text)) in labels.into_iter().enumerate() {
                sample.message(3, |label| {
                    label.number(1, strings.id_in_row(2 * number, key));
                    label.number(2, strings.id_in_row(2 * number + 1, text));
                });
            }
            if !times.is_empty() {
                sample.delimited(field::TIMES, times);
            }
        });
    }

    fn rest(&mut self, profile: &'a Profile, comments: &'a [String], with_lines: bool) -> Rest {
        let (mut types, mut tables) = (Fields::default(), Fields::default());
        let (counts, weights) = self.value_types(profile);
        let has_period = has_period(profile);
        let has_weights = has_period || profile.event.is_weighted();
        types.message(field::SAMPLE_TYPE, |inner| inner.value_type(counts));
        if has_weights {
            types.message(field::SAMPLE_TYPE, |inner| inner.value_type(weights));
        }
        self.mappings(&mut tables);
        locations(profile, &mut tables);
        self.functions(profile, &mut tables);
        let comments: Vec<u64> = comments.iter().map(|text| self.strings.id(text)).collect();
        let mut lines = Fields::default();
        if with_lines {
            self.source_lines(profile, &mut lines);
        }
        for text in self.strings.texts() {
            tables.delimited(field::STRING, text.as_bytes());
        }
        tables.number(field::TIME_NANOS, in_i64(profile.capture.started_unix_nanos));
        tables.number(field::DURATION_NANOS, in_i64(profile.capture.duration_nanos));
        if has_period {
            tables.message(field::PERIOD_TYPE, |inner| inner.value_type(weights));
            tables.number(field::PERIOD, in_i64(profile.capture.period_nanos));
        }
        tables.packed(field::COMMENT, comments);
        let usual = if has_weights { weights } else { counts };
        tables.number(field::DEFAULT_SAMPLE_TYPE, usual.name);
        tables.append(&lines);
        Rest { types, tables }
    }

    /// The types of counts and of weights.
    fn value_types(&mut self, profile: &'a Profile) -> (ValueType, ValueType) {
        let event = profile.event;
        let counts = match event {
            Event::CallTime => self.value_type("time", "microseconds"),
            _ => self.value_type(event.occurrences(), "count"),
        };
        let unit = if event == Event::Cpu { "nanoseconds" } else { profile.unit() };
        (counts, self.value_type(profile.value_name(), unit))
    }

    fn value_type(&mut self, name: &'a str, unit: &'a str) -> ValueType {
        ValueType { name: self.strings.id(name), unit: self.strings.id(unit) }
    }

    /// One mapping for each kind of frame; ids count from 1 in the order of [`KINDS`].
    fn mappings(&mut self, tables: &mut Fields) {
        for (id, (_, file)) in (1..).zip(KINDS) {
            tables.message(field::MAPPING, |mapping| {
                mapping.number(1, id);
                mapping.number(5, self.strings.id(file));
                mapping.number(7, 1);
            });
        }
    }

    fn functions(&mut self, profile: &'a Profile, tables: &mut Fields) {
        for (id, Frame { name, .. }) in profile.frames.iter() {
            let name = self.strings.id(name);
            tables.message(field::FUNCTION, |function| {
                function.number(1, id_of(id));
                function.number(2, name);
                function.number(3, name);
            });
        }
    }

    fn source_lines(&mut self, profile: &'a Profile, lines: &mut Fields) {
        for weight in &profile.lines {
            lines.message(field::SOURCE_LINE, |line| {
                line.number(1, id_of(weight.frame));
                line.number(2, self.strings.id(&weight.file));
                line.number(3, weight.line.into());
                line.number(4, weight.own);
                line.number(5, weight.total);
            });
        }
    }
}

impl Fields {
    fn value_type(&mut self, ValueType { name, unit }: ValueType) {
        self.number(1, name);
        self.number(2, unit);
    }
}

/// One location and one function for each frame, both with the frame's id plus 1.
fn locations(profile: &Profile, tables: &mut Fields) {
    for (id, frame) in profile.frames.iter() {
        let kind = KINDS.iter().position(|(kind, _)| *kind == frame.kind);
        tables.message(field::LOCATION, |location| {
            location.number(1, id_of(id));
            location.number(2, kind.map_or(0, |index| index as u64 + 1));
            location.message(4, |line| line.number(1, id_of(id)));
        });
    }
}

/// The id of a frame's location and function.
fn id_of(frame: FrameId) -> u64 {
    u64::from(frame.0) + 1
}

fn has_period(profile: &Profile) -> bool {
    profile.event == Event::Cpu && profile.capture.period_nanos > 0
}

fn comments(profile: &Profile) -> io::Result<[String; 3]> {
    Ok([
        format!("{COMMENT_EVENT}{}", profile.event.name()),
        format!("{COMMENT_CAPTURE}{}", serde_json::to_string(&profile.capture)?),
        format!("{COMMENT_QUALITY}{}", serde_json::to_string(&profile.quality)?),
    ])
}

fn leaf_first(stack: &[StackEntry]) -> impl Iterator<Item = u64> {
    let entries = stack.iter().rev();
    entries.flat_map(|entry| std::iter::repeat_n(id_of(entry.frame), entry.repeat as usize))
}

/// One value for each sample type.
fn values(profile: &Profile, count: u64, weight: u64) -> impl Iterator<Item = u64> {
    let weight = if profile.event.is_weighted() {
        Some(weight)
    } else {
        has_period(profile).then(|| weight.saturating_mul(profile.capture.period_nanos))
    };
    [Some(count), weight].into_iter().flatten().map(in_i64)
}

/// Pairs of key and text, without unknown texts.
fn labels<'a>(
    labels: &'a Labels,
    identities: &'a Identities,
) -> impl Iterator<Item = (&'static str, &'a str)> {
    let known = labels.process.as_ref().and_then(|pid| identities.get(&**pid));
    let mode = MODES.iter().find(|(mode, _)| *mode == labels.mode).map(|(_, name)| *name);
    [
        (LABEL_PROCESS, labels.process.as_deref()),
        (LABEL_THREAD, Some(&*labels.thread).filter(|name| !name.is_empty())),
        (LABEL_MODE, mode),
        (LABEL_OUTCOME, Some(labels.outcome.name())),
    ]
    .into_iter()
    .chain(known.into_iter().flat_map(texts_of))
    .filter_map(|(key, value)| Some((key, value?)))
}

/// The known texts of a process's identity.
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
        (LABEL_CLIENT, &identity.client),
    ]
    .into_iter()
    .map(|(key, text)| (key, Some(text).filter(|text| !text.is_empty())))
}

/// Limits a value to the range of pprof's signed numbers.
fn in_i64(value: u64) -> u64 {
    value.min(i64::MAX.cast_unsigned())
}
