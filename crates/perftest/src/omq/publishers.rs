//! The publishers of a scenario.

use rabbitscope_runs::scenario::Protocol;
use toml::{Table, Value};

use super::{
    command::Command,
    target::{Name, Target, USUAL, topic},
};
use crate::{
    PerfTestError,
    arguments::Arguments,
    error::invalid_value,
    values::duration,
    writer::{Draft, Section},
};

/// Writes the publishers, of which each has a connection.
pub(super) fn write(
    arguments: &Arguments,
    command: Command,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let (count, protocol) = (arguments.count("publishers")?, command.publishers);
    if count < 1 {
        return Ok(());
    }
    let mut section = Section::new("[[publishers]]");
    section.set("count", count);
    section.set("connections", count);
    section.set_protocol(protocol);
    target(arguments, protocol, count, &mut section)?;
    section.set("size", size(arguments, draft)?);
    if protocol == Protocol::Mqtt {
        mqtt(arguments, "publisher", &mut section, draft)?;
    }
    let window: i64 = arguments.number("max-in-flight")?.unwrap_or(1);
    let has_confirms = protocol != Protocol::Mqtt
        || arguments.text("mqtt-publisher-qos").is_some_and(|qos| qos != "0");
    section.set_some("confirm-window", has_confirms.then_some(window));
    if protocol == Protocol::Amqp091 || protocol == Protocol::Amqp10 {
        properties(arguments, protocol, &mut section, draft);
    }
    let rate: Option<f64> = arguments.number("rate")?;
    section.set_some("rate", rate.filter(|rate| *rate >= 0.0));
    section.set_some("messages", arguments.limit("pmessages")?);
    let values = arguments.all("stream-filter-value-set").join(",");
    if !values.is_empty() && protocol == Protocol::Stream {
        section.set("filter-values", values.split(',').collect::<Vec<_>>());
    } else if !values.is_empty() {
        draft.note(
            "--stream-filter-value-set: publishers of the stream protocol have `filter-values`",
        );
    }
    if rate != Some(0.0) {
        section.set("random-start-delay", "1s");
    }
    draft.push(section);
    Ok(())
}

fn target(
    arguments: &Arguments,
    protocol: Protocol,
    count: i64,
    section: &mut Section,
) -> Result<(), PerfTestError> {
    let text = arguments.text("publish-to").unwrap_or(USUAL);
    if protocol == Protocol::Mqtt {
        keyed("topic", &topic("publish-to", text)?, count, section);
        return Ok(());
    }
    match Target::parse("publish-to", text)? {
        Target::Queue(name) if arguments.has("stream-super-stream") => {
            section.set("exchange", name.placeholder());
            section.set("random-routing-keys", 1000);
        }
        Target::Queue(name) => {
            section.set("queue", name.placeholder());
            section.set_some("member-queues", name.is_numbered().then_some("one"));
        }
        Target::Exchange { exchange, key } => {
            section.set("exchange", exchange);
            keyed("routing-key", &key, count, section);
        }
    }
    Ok(())
}

/// Writes a key, or one for each member.
fn keyed(option: &str, key: &Name, count: i64, section: &mut Section) {
    section.set(option, key.placeholder());
    if key.is_numbered() {
        section.set("from", 0);
        section.set("to", count - 1);
        section.set("member-queues", "one");
    }
}

/// Returns the size of bodies. Of several sizes, the first one counts.
fn size(arguments: &Arguments, draft: &mut Draft) -> Result<String, PerfTestError> {
    let text = arguments.text("size").unwrap_or("12");
    let first = text.split(',').next().unwrap_or(text).trim().to_lowercase();
    if text.contains(',') {
        draft.note("--size: only the first size; `sizes` of a scenario change over time");
    }
    let units = [("kb", 1024.0), ("mb", 1_048_576.0), ("b", 1.0)];
    let unit = units.iter().find_map(|(unit, bytes)| Some((first.strip_suffix(unit)?, *bytes)));
    let (digits, unit) = unit.unwrap_or((first.as_str(), 1.0));
    match digits.parse::<f64>().ok().map(|number| number * unit).filter(|bytes| *bytes >= 12.0) {
        Some(bytes) => Ok(format!("{bytes:.0}B")),
        None => invalid_value(
            "size",
            text,
            "a size of at least 12 bytes, such as `100` or `1kb`; templates have no counterpart",
        ),
    }
}

/// Writes version and quality of service of MQTT.
pub(super) fn mqtt(
    arguments: &Arguments,
    side: &str,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let option = format!("mqtt-{side}-version");
    match arguments.text(&option).unwrap_or("5") {
        "5" => section.set("mqtt-version", "5"),
        "3" | "4" => section.set("mqtt-version", "3.1.1"),
        other => return invalid_value(&option, other, "`3`, `4` or `5`"),
    }
    let option = format!("mqtt-{side}-qos");
    match arguments.text(&option).unwrap_or("0") {
        "0" => section.set("qos", 0),
        "1" => section.set("qos", 1),
        "2" => {
            draft.note(format!("--{option} 2: RabbitMQ has 0 and 1, so this is 1"));
            section.set("qos", 1);
        }
        other => return invalid_value(&option, other, "`0`, `1` or `2`"),
    }
    Ok(())
}

fn properties(arguments: &Arguments, protocol: Protocol, section: &mut Section, draft: &mut Draft) {
    section.set_if("persistent", arguments.is_on("message-durability"));
    section
        .set_if("mandatory", protocol == Protocol::Amqp091 && arguments.has("amqp091-mandatory"));
    let mut table = Table::new();
    if let Some(text) = arguments.text("message-priority") {
        match text.parse::<u8>() {
            Ok(priority) => drop(table.insert("priority".to_owned(), i64::from(priority).into())),
            Err(_) => draft.note("--message-priority: a template has no counterpart"),
        }
    }
    if let Some(text) = arguments.text("message-ttl") {
        match duration(text) {
            Some(time) => drop(
                table.insert("expiration".to_owned(), format!("{}ms", time.as_millis()).into()),
            ),
            None => draft.note("--message-ttl: a template has no counterpart"),
        }
    }
    if protocol == Protocol::Amqp091 {
        let headers: Table =
            arguments.all("amqp091-header").iter().filter_map(|pair| header(pair)).collect();
        if !headers.is_empty() {
            table.insert("headers".to_owned(), Value::Table(headers));
        }
    }
    if !table.is_empty() {
        section.set("properties", table);
    }
}

/// Returns the header of `key=value`. Of several values, the first one counts.
fn header(pair: &str) -> Option<(String, Value)> {
    let (key, value) = pair.split_once('=')?;
    let value = value.split(',').next().unwrap_or(value);
    Some((key.to_owned(), value.into()))
}
