//! The consumers of a scenario.

use rabbitscope_runs::scenario::Protocol;

use super::{
    command::Command,
    publishers::mqtt,
    target::{Name, Target, USUAL, topic},
};
use crate::{
    PerfTestError,
    arguments::Arguments,
    consumers::stream_offset,
    error::invalid_value,
    values::{duration, written},
    writer::{Draft, Section},
};

/// Most groups of consumers of MQTT, of which each has its own topic.
const GROUPS_MAX: i64 = 100;

/// Writes the consumers, of which each has a connection.
pub(super) fn write(
    arguments: &Arguments,
    command: Command,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let (count, protocol) = (arguments.count("consumers")?, command.consumers);
    if count < 1 {
        return Ok(());
    }
    let text = arguments.text("consume-from").unwrap_or(USUAL);
    if protocol == Protocol::Mqtt {
        return subscribers(arguments, &topic("consume-from", text)?, count, draft);
    }
    let Target::Queue(name) = Target::parse("consume-from", text)? else {
        return invalid_value("consume-from", text, "a queue, such as `/queues/q`");
    };
    let mut section = group(arguments, protocol, count)?;
    section.set("queue", name.placeholder());
    let is_super = arguments.has("stream-super-stream");
    let assignment = if is_super { Some("all") } else { name.is_numbered().then_some("one") };
    section.set_some("member-queues", assignment);
    let credit: i64 = arguments.number("consumer-credits")?.unwrap_or(1);
    let key = if protocol == Protocol::Stream { "credit" } else { "prefetch" };
    let is_settled = protocol != Protocol::Stream && arguments.has("amqp-consume-settled");
    if is_settled && arguments.has("consumer-credits") {
        draft.note("--consumer-credits means nothing with --amqp-consume-settled");
    }
    section.set_some(key, (credit > 0 && !is_settled).then_some(credit));
    section.set_if("auto-ack", is_settled);
    settling(arguments, protocol, &mut section, draft)?;
    match arguments.text("consumer-latency").map(duration) {
        Some(Some(time)) => section.set("processing-time", written(time)),
        Some(None) => draft.note("--consumer-latency: a template has no counterpart"),
        None => {}
    }
    if protocol != Protocol::Stream {
        section.set_some("priority", arguments.limit("consumer-priority")?);
    }
    streams(arguments, protocol, &mut section)?;
    draft.push(section);
    Ok(())
}

fn group(arguments: &Arguments, protocol: Protocol, count: i64) -> Result<Section, PerfTestError> {
    let mut section = Section::new("[[consumers]]");
    section.set("count", count);
    section.set("connections", count);
    section.set_protocol(protocol);
    section.set_some("messages", arguments.limit("cmessages")?);
    match arguments.text("consumer-startup-delay").map(|text| (text, duration(text))) {
        Some((text, None)) => {
            return invalid_value("consumer-startup-delay", text, "a time such as `10s`");
        }
        Some((_, Some(delay))) => section.set("start-delay", written(delay)),
        None => {}
    }
    Ok(section)
}

/// Writes subscribers of MQTT: one group for all, or for each that has its own topic.
fn subscribers(
    arguments: &Arguments,
    name: &Name,
    count: i64,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if name.is_numbered() && count > GROUPS_MAX {
        let expected = "one topic, or 100 consumers at most, each of which is a group";
        return invalid_value("consume-from", &name.0, expected);
    }
    let groups = if name.is_numbered() { count } else { 1 };
    for number in 0..groups {
        let mut section = group(arguments, Protocol::Mqtt, count / groups)?;
        section.set("topics", vec![name.of_member(number)]);
        mqtt(arguments, "consumer", &mut section, draft)?;
        draft.push(section);
    }
    Ok(())
}

/// Writes the settlement of messages.
fn settling(
    arguments: &Arguments,
    protocol: Protocol,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let rates = [("requeue-rate", true), ("discard-rate", false)];
    for (option, requeues) in rates {
        match arguments.limit(option)? {
            None => {}
            Some(_) if protocol == Protocol::Stream => {
                draft.note(format!("--{option} means nothing to readers of the stream protocol"));
            }
            Some(100..) => {
                section.set("nack", true);
                section.set("requeue", requeues);
            }
            Some(_) => draft.note(format!(
                "--{option}: a group settles all its messages alike, so all are acknowledged"
            )),
        }
    }
    Ok(())
}

/// Writes what is about streams.
fn streams(
    arguments: &Arguments,
    protocol: Protocol,
    section: &mut Section,
) -> Result<(), PerfTestError> {
    let is_stream = protocol == Protocol::Stream;
    let offset = arguments.text("stream-offset").or(is_stream.then_some("next"));
    if let Some(offset) = offset {
        section.set("offset", stream_offset("stream-offset", offset)?);
    }
    if let Some(values) = arguments.text("stream-filter-values").filter(|values| !values.is_empty())
    {
        section.set("filter-values", values.split(',').collect::<Vec<_>>());
    }
    if is_stream && arguments.has("stream-single-active-consumer") {
        let name = arguments.text("consumer-id").unwrap_or("omq-consumer-%d");
        section.set("consumer-name", name.replace("%d", "0"));
        section.set("single-active-consumer", true);
    }
    Ok(())
}
