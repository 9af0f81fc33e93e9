//! Consumers.

use toml::{Table, Value};

use super::{
    command_line::Given,
    publishers::steps,
    topology::{Target, pairs},
    writer::{Draft, Section},
};
use crate::exit::UsageError;

/// What consumers that hold messages are given ahead when PerfTest sets no limit.
const PREFETCH: i64 = 1000;

/// PerfTest's own limit for streams, which need one.
const STREAM_PREFETCH: i64 = 200;

pub(super) fn write(given: &Given, target: &Target, draft: &mut Draft) -> Result<(), UsageError> {
    let connections: i64 = given.number("consumers")?.unwrap_or(1);
    let channels: i64 = given.number("consumer-channel-count")?.unwrap_or(1);
    if connections < 1 || channels < 1 {
        return Ok(());
    }
    let mut section = Section::new("[[consumers]]");
    section.set("queue", target.queues.name());
    section.set("count", connections * channels);
    let shares_connection = given.has("exclusive") && connections > 1;
    if shares_connection {
        draft.note("--exclusive: all consumers share a connection, which owns the queues");
    }
    section.set("connections", if shares_connection { 1 } else { connections });
    let processing = processing(given, &mut section)?;
    if given.has("polling") {
        polling(given, &mut section)?;
    } else {
        pushed(given, target, processing, &mut section, draft)?;
    }
    settling(given, &mut section)?;
    section.set_some("messages", given.limit("cmessages")?);
    let delay = given.limit("consumer-start-delay")?;
    section.set_some("start-delay", delay.map(|seconds| format!("{seconds}s")));
    section.set_some("slow-start", given.has("slow-start").then_some("1s"));
    draft.push(section);
    Ok(())
}

/// True: messages are held.
fn processing(given: &Given, section: &mut Section) -> Result<bool, UsageError> {
    let steps = steps(given, "variable-latency", |micros, seconds| {
        [("time", format!("{micros}us")), ("for", format!("{seconds}s"))]
    })?;
    let micros = given.limit("consumer-latency")?;
    let rate: Option<f64> = given.number("consumer-rate")?;
    let rate = rate.filter(|rate| *rate > 0.0);
    let holds = !steps.is_empty() || micros.is_some() || rate.is_some();
    if steps.is_empty() {
        section.set_some("processing-time", micros.map(|micros| format!("{micros}us")));
    } else {
        section.set("processing-times", Value::Array(steps));
    }
    if given.has("polling") {
        // The pace of those who poll is that of their questions.
        return Ok(holds);
    }
    section.set_some("rate", rate);
    Ok(holds)
}

fn polling(given: &Given, section: &mut Section) -> Result<(), UsageError> {
    section.set("polling", true);
    let interval = given.limit("polling-interval")?.map(|millis| format!("{millis}ms"));
    let rate: Option<f64> = given.number("consumer-rate")?;
    let of_rate = rate.filter(|rate| *rate > 0.0).map(|rate| format!("{:.0}us", 1e6 / rate));
    section.set_some("poll-interval", interval.or(of_rate));
    section.set_if("auto-ack", given.has("autoack"));
    Ok(())
}

fn pushed(
    given: &Given,
    target: &Target,
    holds: bool,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), UsageError> {
    let is_stream = target.kind == "stream";
    let automatic = given.has("autoack") && !is_stream && !holds;
    if given.has("autoack") && !automatic {
        draft.note("--autoack would let the broker send on regardless: messages are acknowledged");
    }
    section.set_if("auto-ack", automatic);
    let prefetch = given.limit("qos")?;
    let of_channel = given.limit("global-qos")?;
    let needed = match (is_stream, holds) {
        (true, _) => Some(STREAM_PREFETCH),
        (false, true) if of_channel.is_none() => Some(PREFETCH),
        _ => None,
    };
    if !automatic {
        section.set_some("prefetch", prefetch.or(needed));
        if target.kind == "classic" {
            section.set_some("channel-prefetch", of_channel);
        } else if of_channel.is_some() {
            draft.note("--global-qos: only classic queues take part in a channel's limit");
        }
    } else if prefetch.or(of_channel).is_some() {
        draft.note("--qos means nothing with --autoack");
    }
    let mut arguments: Table = pairs(given, "consumer-args")?;
    if let Some(offset) = given.text("stream-consumer-offset") {
        let number = offset.parse::<i64>().map(Value::from);
        let is_name = ["first", "last", "next"].contains(&offset);
        if number.is_ok() || is_name {
            let offset = number.unwrap_or_else(|_| offset.into());
            arguments.insert("x-stream-offset".to_owned(), offset);
        } else {
            draft.note("--stream-consumer-offset: scenarios cannot say a time, so `next` holds");
        }
    }
    if !arguments.is_empty() {
        section.set("arguments", Value::Table(arguments));
    }
    Ok(())
}

fn settling(given: &Given, section: &mut Section) -> Result<(), UsageError> {
    if given.has("autoack") {
        return Ok(());
    }
    section.set_some("multi-ack-every", given.limit("multi-ack-every")?);
    section.set_some("tx-size", given.limit("ctxsize")?);
    if given.has("nack") {
        section.set("nack", true);
        section.set("requeue", given.switch("requeue", true));
    }
    Ok(())
}
