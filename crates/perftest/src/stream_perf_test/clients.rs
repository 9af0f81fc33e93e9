//! The publishers and readers of a scenario.

use std::time::Duration;

use toml::Value;

use super::streams::Streams;
use crate::{
    PerfTestError,
    arguments::Arguments,
    consumers::stream_offset,
    error::invalid_value,
    values::{duration, written},
    writer::{Draft, Section},
};

/// Bytes of the stamp at the beginning of every body.
const STAMP: i64 = 12;

/// Number of different routing keys in place of one for each message.
const KEYS: i64 = 10_000;

/// Writes the publishers: a group, or one for each super stream.
pub(super) fn publishers(
    arguments: &Arguments,
    streams: &Streams,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let all = arguments.count("producers")?;
    if streams.partitions.is_none() {
        let mut section = group("[[publishers]]", arguments, all, "producers-by-connection")?;
        section.set("queue", streams.reference());
        section.set_some("member-queues", (streams.names.len() > 1).then_some("one"));
        return publisher(arguments, all, section, draft);
    }
    if all > 0 {
        draft.note(format!(
            "messages of super streams have the routing keys 0 to {} in turn",
            KEYS - 1
        ));
    }
    for (name, count) in shared(&streams.names, all) {
        let mut section = group("[[publishers]]", arguments, count, "producers-by-connection")?;
        section.set("exchange", name);
        section.set("routing-key", "{}");
        section.set("from", 0);
        section.set("to", KEYS - 1);
        section.set("member-queues", "all");
        publisher(arguments, count, section, draft)?;
    }
    Ok(())
}

/// Returns the members of each stream, of which all have one in turn.
fn shared(names: &[String], all: i64) -> impl Iterator<Item = (&str, i64)> {
    let streams = i64::try_from(names.len()).unwrap_or(1);
    (0..).zip(names).map(move |(number, name)| {
        (name.as_str(), all / streams + i64::from(number < all % streams))
    })
}

/// Begins a group of `count` members.
fn group(
    heading: &'static str,
    arguments: &Arguments,
    count: i64,
    by_connection: &str,
) -> Result<Section, PerfTestError> {
    let by_connection = arguments.number::<i64>(by_connection)?.unwrap_or(1).max(1);
    let mut section = Section::new(heading);
    section.set("count", count);
    section.set("connections", (count + by_connection - 1) / by_connection);
    section.set("protocol", "stream");
    Ok(section)
}

fn publisher(
    arguments: &Arguments,
    count: i64,
    mut section: Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if count < 1 {
        return Ok(());
    }
    let size: i64 = arguments.number("size")?.unwrap_or(10);
    section.set("size", format!("{}B", size.max(STAMP)));
    section.set("confirm-window", arguments.number::<i64>("confirms")?.unwrap_or(10_000).max(1));
    section.set_some("rate", arguments.limit("rate")?);
    section.set_some("messages", arguments.limit("pmessages")?);
    section
        .set_if("reference", arguments.text("producer-names").is_some_and(|name| !name.is_empty()));
    entries(arguments, &mut section, draft)?;
    if let Some(values) = arguments.text("filter-value-set") {
        section.set("filter-values", filter_value_set(values)?);
        draft.note("--filter-value-set: each message has the next value, so that chunks are mixed");
    }
    draft.push(section);
    Ok(())
}

/// Writes entries of several messages.
fn entries(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let size: i64 = arguments.number("sub-entry-size")?.unwrap_or(1);
    let codec = arguments.text("compression").unwrap_or("none").to_lowercase();
    if !["none", "gzip", "snappy", "lz4", "zstd"].contains(&codec.as_str()) {
        let expected = "`none`, `gzip`, `snappy`, `lz4` or `zstd`";
        return invalid_value("compression", &codec, expected);
    }
    if size < 2 {
        if codec != "none" {
            draft.note("--compression: Stream PerfTest compresses only with --sub-entry-size");
        }
        return Ok(());
    }
    section.set("sub-entry-size", size);
    match codec.as_str() {
        "none" => {}
        "snappy" => {
            draft.note("--compression snappy has no equivalent: gzip, lz4 and zstd have one");
        }
        codec => {
            draft.note("--compression: bodies are JSON, since zeros would become nothing");
            section.set("body", "json");
            section.set("compression", codec);
        }
    }
    Ok(())
}

/// Returns the values of `a,b` or `1..15`.
fn filter_value_set(text: &str) -> Result<Value, PerfTestError> {
    let Some((first, last)) = text.split_once("..") else {
        return Ok(text.split(',').collect::<Vec<_>>().into());
    };
    let range = first.parse::<i64>().ok().zip(last.parse::<i64>().ok());
    match range.filter(|(first, last)| first <= last) {
        Some((first, last)) => {
            Ok((first..=last).map(|number| number.to_string()).collect::<Vec<_>>().into())
        }
        None => {
            invalid_value("filter-value-set", text, "values such as `a,b`, or a range: `1..10`")
        }
    }
}

/// Writes the readers: a group, or one for each super stream, of which each reader has all partitions.
pub(super) fn readers(
    arguments: &Arguments,
    streams: &Streams,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let all = arguments.count("consumers")?;
    if streams.partitions.is_none() {
        let mut section = group("[[consumers]]", arguments, all, "consumers-by-connection")?;
        section.set("queue", streams.reference());
        section.set_some("member-queues", (streams.names.len() > 1).then_some("one"));
        let only = streams.names.first().filter(|_| streams.names.len() == 1);
        return reader(arguments, (all, only.map(String::as_str)), section, draft);
    }
    for (name, count) in shared(&streams.names, all) {
        let mut section = group("[[consumers]]", arguments, count, "consumers-by-connection")?;
        section.set("queue", name);
        section.set("member-queues", "all");
        reader(arguments, (count, Some(name)), section, draft)?;
    }
    Ok(())
}

fn reader(
    arguments: &Arguments,
    (count, only): (i64, Option<&str>),
    mut section: Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if count < 1 {
        return Ok(());
    }
    section.set("offset", stream_offset("offset", arguments.text("offset").unwrap_or("next"))?);
    section.set("credit", credit(arguments, draft)?);
    section.set_some("rate", arguments.limit("consumer-rate")?);
    let latency = arguments.text("consumer-latency").map(|text| (text, duration(text)));
    match latency {
        Some((text, None)) => {
            return invalid_value("consumer-latency", text, "a time such as `5ms`");
        }
        Some((_, Some(time))) if time > Duration::ZERO => {
            section.set("processing-time", written(time));
        }
        _ => {}
    }
    section.set_some("messages", arguments.limit("cmessages")?);
    tracking(arguments, (count, only), &mut section, draft)?;
    if let Some(values) = arguments.text("filter-values") {
        section.set("filter-values", values.split(',').collect::<Vec<_>>());
    }
    draft.push(section);
    Ok(())
}

/// Returns the chunks that the broker may send ahead.
fn credit(arguments: &Arguments, draft: &mut Draft) -> Result<i64, PerfTestError> {
    let initial: i64 = arguments.number("initial-credits")?.unwrap_or(10);
    let Some(text) = arguments.text("credits").filter(|text| *text != "0") else {
        return Ok(initial.max(1));
    };
    let (initial, every) = text.split_once('-').unwrap_or((text, "1"));
    match (initial.parse::<i64>(), every.parse::<i64>()) {
        (Ok(initial), Ok(every)) => {
            if every > 1 {
                draft.note("--credits: the credit of each chunk returns by itself");
            }
            Ok(initial.max(1))
        }
        _ => invalid_value("credits", text, "`10` or `10-5`"),
    }
}

/// Writes names and turns of readers. A group has one name, so patterns are for one reader of one stream.
fn tracking(
    arguments: &Arguments,
    (count, only): (i64, Option<&str>),
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let is_single = arguments.switch("single-active-consumer", false);
    let every: Option<i64> = arguments.limit("store-every")?;
    if !is_single && every.is_none() {
        return Ok(());
    }
    let pattern = arguments.text("consumer-names").unwrap_or("%s-%d");
    let is_common = !pattern.contains('%') && pattern != "uuid";
    if is_common {
        section.set("consumer-name", pattern);
        section.set_some("store-every", every);
        section.set_if("single-active-consumer", is_single);
        return Ok(());
    }
    if is_single {
        draft.note(
            "--single-active-consumer: each consumer has a name of its own, so that all are active, as without it; \
             --consumer-names NAME gives them one",
        );
    }
    let name = pattern.replacen("%s", only.unwrap_or_default(), 1).replacen("%d", "1", 1);
    if count == 1 && only.is_some() && !name.contains('%') && pattern != "uuid" {
        section.set("consumer-name", name);
        section.set_some("store-every", every);
    } else {
        draft.note("--store-every: a group of readers has one name: give each its own group to store offsets");
    }
    Ok(())
}
