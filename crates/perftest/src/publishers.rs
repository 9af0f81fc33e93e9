//! The publishers of a scenario.

use std::time::Duration;

use rabbitscope_runs::scenario::Protocol;
use rabbitscope_text::parse_offset_time;
use toml::{Table, Value};

use super::{
    arguments::Arguments,
    topology::{Queues, Target},
    values::{pairs, steps},
    writer::{Draft, Section},
};
use crate::{PerfTestError, error::invalid_value};

/// Number of different routing keys in place of PerfTest's new key for each message: enough that each is rare.
const RANDOM_KEYS: i64 = 100_000;

/// Standard properties: PerfTest's name and the name in scenarios.
const PROPERTIES: [(&str, &str); 12] = [
    ("contentType", "content-type"),
    ("contentEncoding", "content-encoding"),
    ("priority", "priority"),
    ("correlationId", "correlation-id"),
    ("replyTo", "reply-to"),
    ("messageId", "message-id"),
    ("type", "type"),
    ("userId", "user-id"),
    ("appId", "app-id"),
    ("expiration", "expiration"),
    ("timestamp", "timestamp"),
    ("clusterId", "cluster-id"),
];

/// Bytes of the stamp at the beginning of every body: a number of 4 bytes and a time of 8.
const STAMP: i64 = 12;

pub(super) fn write(
    arguments: &Arguments,
    target: &Target,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let connections = arguments.count("producers")?;
    let channels = arguments.count("producer-channel-count")?;
    if connections < 1 || channels < 1 {
        return Ok(());
    }
    let mut section = Section::new("[[publishers]]");
    section.set("count", connections * channels);
    section.set("connections", connections);
    section.set_protocol(arguments.protocol());
    routing(arguments, target, &mut section, draft)?;
    content(arguments, &mut section, draft)?;
    section.set_if("mandatory", arguments.flag("mandatory"));
    let known = ["persistent", "mandatory"];
    for other in arguments.all("flag").iter().filter(|flag| !known.contains(&flag.as_str())) {
        draft.note(format!(
            "--flag {other}: PerfTest ignores it, and knows {}",
            known.join(" and ")
        ));
    }
    guarantees(arguments, &mut section, draft)?;
    pace(arguments, &mut section, draft)?;
    properties(arguments, &mut section, draft)?;
    draft.push(section);
    Ok(())
}

fn routing(
    arguments: &Arguments,
    target: &Target,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if arguments.protocol() == Protocol::Stream {
        to_streams(arguments, target, section, draft);
        return Ok(());
    }
    let cached: Option<i64> = arguments.limit("routing-key-cache-size")?;
    let is_random = arguments.has("random-routing-key") || cached.is_some();
    let Some(exchange) = &target.exchange else {
        return to_default(arguments, target, is_random, section);
    };
    section.set("exchange", exchange.as_str());
    match &target.key {
        _ if is_random => {
            if cached.is_none() {
                draft.note(format!("--random-routing-key: {RANDOM_KEYS} different keys in turn"));
            }
            section.set("random-routing-keys", cached.unwrap_or(RANDOM_KEYS));
        }
        Some(key) => section.set("routing-key", key.as_str()),
        None => {
            section.set("queue", target.queues.name());
            section.set_some("member-queues", target.queues.of_members());
        }
    }
    Ok(())
}

/// Writes the streams of publishers, which have one each.
fn to_streams(arguments: &Arguments, target: &Target, section: &mut Section, draft: &mut Draft) {
    section.set("queue", target.queues.name());
    section.set_some("member-queues", target.queues.of_members().map(|_| "one"));
    let unused =
        ["exchange", "type", "routing-key", "random-routing-key", "routing-key-cache-size"];
    for option in unused.into_iter().filter(|option| arguments.has(option)) {
        draft.note(format!("--{option} means nothing to publishers of the stream protocol"));
    }
}

/// Writes the target behind the default exchange, which routes to the queue whose name is the routing key.
fn to_default(
    arguments: &Arguments,
    target: &Target,
    is_random: bool,
    section: &mut Section,
) -> Result<(), PerfTestError> {
    match (arguments.text("routing-key"), &target.queues) {
        _ if is_random => {}
        (Some(queue), _) => {
            section.set("queue", queue);
            return Ok(());
        }
        (None, Queues::OneEach(_)) => {
            section.set("queue", target.queues.name());
            section.set_some("member-queues", target.queues.of_members());
            return Ok(());
        }
        _ => {}
    }
    let reason = "PerfTest would send to the default exchange with keys that it makes up, so that \
                  nothing arrives: add --routing-key with the name of a queue";
    Err(PerfTestError::CommandLine(reason.to_owned()))
}

fn content(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let steps = steps(arguments, "variable-size", |size, seconds| {
        [("size", format!("{}B", size.max(STAMP))), ("for", format!("{seconds}s"))]
    })?;
    let size: i64 = arguments.number("size")?.unwrap_or(0);
    if let Some(files) = arguments.text("body") {
        let files: Vec<Value> = files.split(',').map(|file| file.trim().into()).collect();
        section.set("body-files", Value::Array(files));
    } else if arguments.has("json-body") {
        section.set("body", "json");
        section.set("json-bodies", arguments.number("body-count")?.unwrap_or(100_i64));
        section.set("json-fields", arguments.number("body-field-count")?.unwrap_or(1000_i64));
        section.set("size", format!("{}B", size.max(0)));
        if !steps.is_empty() {
            draft.note("--variable-size: PerfTest ignores it with --json-body");
        }
    } else if steps.is_empty() {
        section.set("size", format!("{}B", size.max(STAMP)));
    } else {
        section.set("sizes", Value::Array(steps));
    }
    Ok(())
}

fn guarantees(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let confirm: i64 = arguments.number("confirm")?.unwrap_or(-1);
    section.set_some("tx-size", arguments.limit("ptxsize")?);
    if confirm == 0 {
        section.set("confirms", true);
    }
    if confirm > 0 {
        section.set("confirm-window", confirm);
        let timeout: i64 = arguments.number("confirm-timeout")?.unwrap_or(30);
        match timeout {
            1.. => {
                section.set("confirm-timeout", format!("{timeout}s"));
                section.set("on-confirm-timeout", "fail");
            }
            0 => draft.note("--confirm-timeout 0 would end PerfTest at the first full window"),
            _ => {}
        }
    } else if arguments.has("confirm-timeout") {
        draft.note("--confirm-timeout: PerfTest ignores it without --confirm");
    }
    Ok(())
}

fn pace(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let phases = steps(arguments, "variable-rate", |rate, seconds| {
        [("for", Value::from(format!("{seconds}s"))), ("rate", Value::from(rate))]
    })?;
    let rate: Option<f64> = arguments.number::<f64>("rate")?.filter(|rate| *rate >= 0.0);
    let interval = interval(arguments)?;
    let random_start = match arguments.number::<i64>("producer-random-start-delay")? {
        Some(seconds) if seconds >= 0 => seconds,
        _ => i64::from(!phases.is_empty() || rate.is_some() || interval.is_some()),
    };
    match (slow(rate, &phases), interval) {
        // Like PerfTest: publishers of up to 10 messages a second have a timer.
        (Some(millis), _) => section.set("interval", format!("{millis}ms")),
        (None, Some(millis)) => {
            section.set("interval", format!("{millis}ms"));
            if rate.is_some() || !phases.is_empty() {
                draft.note("--publishing-interval: PerfTest ignores other rates beside it");
            }
        }
        (None, None) if phases.is_empty() => section.set_some("rate", rate),
        (None, None) => {
            section.set("phases", Value::Array(phases));
            section.set("after-phases", "repeat");
        }
    }
    section.set_some("messages", arguments.limit("pmessages")?);
    if random_start > 0 && rate != Some(0.0) {
        section.set("random-start-delay", format!("{random_start}s"));
    }
    Ok(())
}

/// Returns the milliseconds between two messages, for constant rates from 1 to 10 a second.
fn slow(rate: Option<f64>, phases: &[Value]) -> Option<u64> {
    let rate = rate.filter(|rate| phases.is_empty() && (1.0..=10.0).contains(rate))?;
    u64::try_from(Duration::from_secs_f64(rate.recip()).as_millis()).ok()
}

/// Returns `--publishing-interval` in milliseconds.
fn interval(arguments: &Arguments) -> Result<Option<u64>, PerfTestError> {
    let Some(text) = arguments.text("publishing-interval") else { return Ok(None) };
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let millis = seconds.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    match millis.filter(|millis| *millis >= 100) {
        Some(millis) => Ok(Some(millis)),
        None => invalid_value("publishing-interval", text, "a time in seconds, at least 0.1"),
    }
}

/// Writes the properties of every message: first PerfTest's own, then `--message-properties`.
fn properties(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let mut pairs = pairs(arguments, "message-properties");
    let mut table = Table::new();
    if let Some(mode) = pairs.remove("deliveryMode") {
        table.insert("delivery-mode".to_owned(), mode);
    }
    section.set_if("persistent", is_persistent(arguments) && table.is_empty());
    match (arguments.has("body"), arguments.text("body-content-type")) {
        (true, Some(kind)) => drop(table.insert("content-type".to_owned(), kind.into())),
        (false, Some(_)) => draft.note("--body-content-type: PerfTest ignores it without --body"),
        _ => {}
    }
    if arguments.has("json-body") && !arguments.has("body") {
        table.insert("content-type".to_owned(), "application/json".into());
    }
    for (theirs, ours) in PROPERTIES {
        if let Some(value) = pairs.remove(theirs) {
            table.insert(ours.to_owned(), property(ours, value)?);
        }
    }
    if pairs.remove("headers").is_some() {
        draft.note("--message-properties headers: PerfTest ignores it; other names become headers");
    }
    if !pairs.is_empty() {
        table.insert("headers".to_owned(), Value::Table(pairs));
    }
    if !table.is_empty() {
        section.set("properties", Value::Table(table));
    }
    Ok(())
}

/// Returns whether messages are marked as persistent. Those of the stream protocol always are, without a mark.
fn is_persistent(arguments: &Arguments) -> bool {
    if arguments.protocol() == Protocol::Stream {
        return false;
    }
    let is_replicated = arguments.has("quorum-queue") || arguments.has("stream-queue");
    is_replicated || arguments.flag("persistent")
}

/// Converts a property. All but the priority and the timestamp are texts.
fn property(key: &str, value: Value) -> Result<Value, PerfTestError> {
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match key {
        "priority" => Ok(value),
        "expiration" => Ok(format!("{text}ms").into()),
        "timestamp" => match parse_offset_time(&text) {
            Some(time) => Ok(Value::from(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))),
            None => invalid_value(
                "message-properties",
                &text,
                "a time such as 2026-01-01T12:00:00+01:00",
            ),
        },
        _ => Ok(text.into()),
    }
}
