//! Publishers.

use toml::{Table, Value};

use super::{
    command_line::Given,
    topology::{Queues, Target, pairs},
    writer::{Draft, Section},
    wrong,
};
use crate::exit::UsageError;

/// Different keys where PerfTest makes a new one for each message.
const RANDOM_KEYS: i64 = 100_000;

/// Standard properties: PerfTest's name and ours.
const PROPERTIES: [(&str, &str); 10] = [
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
];

pub(super) fn write(given: &Given, target: &Target, draft: &mut Draft) -> Result<(), UsageError> {
    let connections: i64 = given.number("producers")?.unwrap_or(1);
    let channels: i64 = given.number("producer-channel-count")?.unwrap_or(1);
    if connections < 1 || channels < 1 {
        return Ok(());
    }
    let mut section = Section::new("[[publishers]]");
    section.set("count", connections * channels);
    section.set("connections", connections);
    routing(given, target, &mut section, draft)?;
    content(given, &mut section)?;
    let flags = given.all("flag").iter().flat_map(|flags| flags.split(','));
    let flags: Vec<_> = flags.map(str::trim).collect();
    if let Some(other) = flags.iter().find(|flag| !["persistent", "mandatory"].contains(flag)) {
        return wrong("flag", other, "`persistent` or `mandatory`");
    }
    let mut properties = pairs(given, "message-properties")?;
    let mode = properties.remove("deliveryMode").and_then(|mode| mode.as_integer());
    section.set_if("persistent", flags.contains(&"persistent") || mode == Some(2));
    section.set_if("mandatory", flags.contains(&"mandatory"));
    guarantees(given, &mut section)?;
    pace(given, &mut section)?;
    let properties = message_properties(given, properties, draft);
    if !properties.is_empty() {
        section.set("properties", Value::Table(properties));
    }
    draft.push(section);
    Ok(())
}

fn routing(
    given: &Given,
    target: &Target,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), UsageError> {
    let Some(exchange) = &target.exchange else {
        if target.key.is_some() || given.has("random-routing-key") {
            draft.note("queues are sent to by their names: --routing-key does not count");
        }
        section.set("queue", target.queues.name());
        return Ok(());
    };
    section.set("exchange", exchange.as_str());
    let cached: Option<i64> = given.limit("routing-key-cache-size")?;
    if given.has("random-routing-key") || cached.is_some() {
        if cached.is_none() {
            draft.note(format!("--random-routing-key: {RANDOM_KEYS} different keys in turn"));
        }
        section.set("random-routing-keys", cached.unwrap_or(RANDOM_KEYS));
        return Ok(());
    }
    section.set("routing-key", target.key.as_deref().unwrap_or(target.queues.name()));
    if let (Queues::Numbered { from, to, .. }, None) = (&target.queues, &target.key) {
        section.set("from", *from);
        section.set("to", *to);
    }
    Ok(())
}

fn content(given: &Given, section: &mut Section) -> Result<(), UsageError> {
    if let Some(files) = given.text("body") {
        let files: Vec<Value> = files.split(',').map(|file| file.trim().into()).collect();
        section.set("body-files", Value::Array(files));
        return Ok(());
    }
    if given.has("json-body") {
        section.set("body", "json");
        section.set_some("json-bodies", given.limit("body-count")?);
    }
    let steps = steps(given, "variable-size", |size, seconds| {
        [("size", format!("{size}B")), ("for", format!("{seconds}s"))]
    })?;
    if steps.is_empty() {
        let size: i64 = given.number("size")?.unwrap_or(12);
        section.set("size", format!("{}B", size.max(12)));
    } else {
        section.set("sizes", Value::Array(steps));
    }
    Ok(())
}

fn guarantees(given: &Given, section: &mut Section) -> Result<(), UsageError> {
    let window = given.limit("confirm")?;
    let transaction = given.limit("ptxsize")?;
    section.set_some("confirm-window", window);
    section.set_some("tx-size", transaction);
    if window.or(transaction).is_some() {
        let timeout = given.limit("confirm-timeout")?.unwrap_or(30);
        section.set("confirm-timeout", format!("{timeout}s"));
        section.set("on-confirm-timeout", "fail");
    }
    Ok(())
}

fn pace(given: &Given, section: &mut Section) -> Result<(), UsageError> {
    let phases = steps(given, "variable-rate", |rate, seconds| {
        [("for", Value::from(format!("{seconds}s"))), ("rate", Value::from(rate))]
    })?;
    if phases.is_empty() {
        let rate: Option<f64> = given.number("rate")?;
        section.set_some("rate", rate.filter(|rate| *rate > 0.0));
        let interval = given.text("publishing-interval").map(|seconds| format!("{seconds}s"));
        section.set_some("interval", interval);
    } else {
        section.set("phases", Value::Array(phases));
        section.set("after-phases", "repeat");
    }
    section.set_some("messages", given.limit("pmessages")?);
    let delay = given.limit("producer-random-start-delay")?;
    section.set_some("random-start-delay", delay.map(|seconds| format!("{seconds}s")));
    Ok(())
}

/// Tables from values of the form `NUMBER:SECONDS`.
pub(super) fn steps<V: Into<Value>, const N: usize>(
    given: &Given,
    option: &'static str,
    table: impl Fn(i64, i64) -> [(&'static str, V); N],
) -> Result<Vec<Value>, UsageError> {
    let mut steps = Vec::new();
    for text in given.all(option) {
        let parts = text.split_once(':');
        let numbers = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let Some((number, seconds)) = numbers else {
            return wrong(option, text, "`NUMBER:SECONDS`");
        };
        let pairs = table(number, seconds).map(|(key, value)| (key.to_owned(), value.into()));
        steps.push(Value::Table(Table::from_iter(pairs)));
    }
    Ok(steps)
}

fn message_properties(given: &Given, mut given_pairs: Table, draft: &mut Draft) -> Table {
    let mut table = Table::new();
    if let Some(kind) = given.text("body-content-type") {
        table.insert("content-type".to_owned(), kind.into());
    }
    for (theirs, ours) in PROPERTIES {
        let Some(value) = given_pairs.remove(theirs) else { continue };
        let text = value.as_integer().map(|number| number.to_string());
        let value = match (ours, text) {
            ("priority", _) | (_, None) => value,
            ("expiration", Some(millis)) => format!("{millis}ms").into(),
            (_, Some(text)) => text.into(),
        };
        table.insert(ours.to_owned(), value);
    }
    for unset in ["timestamp", "clusterId"] {
        if given_pairs.remove(unset).is_some() {
            draft.note(format!("--message-properties {unset} is left out"));
        }
    }
    if !given_pairs.is_empty() {
        table.insert("headers".to_owned(), Value::Table(given_pairs));
    }
    table
}
