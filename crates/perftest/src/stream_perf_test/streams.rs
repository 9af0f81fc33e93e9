//! The streams of a scenario.

use toml::{Table, Value};

use crate::{
    PerfTestError,
    arguments::Arguments,
    error::invalid_value,
    pattern::Pattern,
    values::{capacity, duration, iso_seconds},
    writer::{Draft, Section},
};

/// Arguments of streams that the program always sets.
const MAX_LENGTH: i64 = 20_000_000_000;
const SEGMENT: i64 = 500_000_000;

/// Largest segment that RabbitMQ accepts.
const SEGMENT_MAX: i64 = 3_000_000_000;

/// Most streams whose names are listed.
const LISTED_MAX: u32 = 10_000;

/// The streams, or super streams, that producers and consumers have in turn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Streams {
    pub(super) names: Vec<String>,
    /// Partitions of each, if they are super streams.
    pub(super) partitions: Option<i64>,
}

impl Streams {
    pub(super) fn from_arguments(arguments: &Arguments) -> Result<Self, PerfTestError> {
        let is_super = arguments.switch("super-streams", false);
        let partitions = arguments.number("super-stream-partitions")?.unwrap_or(3);
        Ok(Self { names: names(arguments)?, partitions: is_super.then_some(partitions) })
    }

    /// Returns the name that groups of single streams refer to.
    pub(super) fn reference(&self) -> &str {
        match self.names.as_slice() {
            [name] => name,
            _ => "streams",
        }
    }
}

/// Returns the names: those of `--streams`, or the only one with the numbers of `--stream-count`.
fn names(arguments: &Arguments) -> Result<Vec<String>, PerfTestError> {
    let streams = arguments.text("streams").unwrap_or("stream");
    let streams: Vec<_> = streams.split(',').map(str::to_owned).collect();
    let text = arguments.text("stream-count").unwrap_or("1");
    let (first, last) = text.split_once("..").or(text.split_once('-')).unwrap_or(("1", text));
    let range = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
    let Some((first, last)) = range.filter(|(first, last)| (1..=*last).contains(first)) else {
        return invalid_value("stream-count", text, "`10` or `1-10`");
    };
    if (first, last) == (1, 1) {
        return Ok(streams);
    }
    if last - first >= LISTED_MAX {
        return invalid_value("stream-count", text, "10000 streams at most");
    }
    let [pattern] = streams.as_slice() else {
        let reason = "--stream-count needs one name in --streams, as Stream PerfTest says";
        return Err(PerfTestError::CommandLine(reason.to_owned()));
    };
    let pattern = if pattern.contains('%') {
        pattern.clone()
    } else {
        format!("{pattern}-%0{}d", last.to_string().len())
    };
    match Pattern::read(&pattern) {
        Some(pattern) => Ok((first..=last).map(|number| pattern.expand(number)).collect()),
        None => invalid_value("streams", &pattern, "a name with one number, such as `stream-%d`"),
    }
}

/// Writes the streams, which the program keeps unless it is told otherwise.
pub(super) fn write(
    arguments: &Arguments,
    streams: &Streams,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let table = declaration(arguments)?;
    let keep = !arguments.switch("delete-streams", false);
    let mut push = |name: &str, names: Option<&[String]>| {
        let mut section = Section::new("[[queues]]");
        section.set("name", name);
        section.set_some("names", names.map(|names| Value::from(names.to_vec())));
        section.set_some("partitions", streams.partitions);
        section.set("type", "stream");
        section.set("if-missing", true);
        section.set_if("keep", keep);
        if !table.is_empty() {
            section.set("arguments", table.clone());
        }
        draft.push(section);
    };
    match (&streams.names[..], streams.partitions) {
        ([name], _) => push(name, None),
        (names, Some(_)) => names.iter().for_each(|name| push(name, None)),
        (names, None) => push("streams", Some(names)),
    }
    Ok(())
}

/// Returns the arguments of a stream.
fn declaration(arguments: &Arguments) -> Result<Table, PerfTestError> {
    let mut table = Table::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    let length = capacity(arguments, "max-length-bytes")?.unwrap_or(MAX_LENGTH);
    set("x-max-length-bytes", (length > 0).then(|| length.into()));
    let option = "stream-max-segment-size-bytes";
    let segment = capacity(arguments, option)?.unwrap_or(SEGMENT);
    if segment > SEGMENT_MAX {
        return invalid_value(option, &segment.to_string(), "at most 3000000000 bytes");
    }
    set("x-stream-max-segment-size-bytes", (segment > 0).then(|| segment.into()));
    if let Some(age) = arguments.text("max-age") {
        let seconds = iso_seconds(age).or_else(|| duration(age).map(|age| age.as_secs()));
        match seconds.filter(|seconds| *seconds > 0) {
            Some(seconds) => set("x-max-age", Some(format!("{seconds}s").into())),
            None => return invalid_value("max-age", age, "a time such as `10m30s` or `PT10M30S`"),
        }
    }
    let members: Option<i64> = arguments.limit("initial-member-count")?;
    set("x-initial-cluster-size", members.map(Value::from));
    let locator = arguments.text("leader-locator").unwrap_or("balanced").to_lowercase();
    match locator.as_str() {
        "balanced" | "client-local" | "least-leaders" | "random" => {
            set("x-queue-leader-locator", Some(locator.into()));
        }
        other => {
            let expected = "`client-local`, `balanced`, `least-leaders` or `random`";
            return invalid_value("leader-locator", other, expected);
        }
    }
    if arguments.has("filter-value-set") {
        let size: i64 = arguments.number("filter-size")?.unwrap_or(16);
        set("x-stream-filter-size-bytes", Some(size.into()));
    }
    Ok(table)
}
