//! The consumers of a scenario.

use std::time::Duration;

use rabbitscope_runs::scenario::Protocol;
use rabbitscope_text::{display_utc, parse_offset_time};
use toml::Value;

use super::{
    arguments::Arguments,
    topology::{Queues, Sequence, Target},
    values::{pairs, steps},
    writer::{Draft, Section},
};
use crate::{PerfTestError, error::invalid_value};

/// Prefetch of slow consumers if PerfTest sets no limit: the number of messages that its client library buffers
/// before it stops reading from the socket.
const PREFETCH: i64 = 1000;

/// PerfTest's own prefetch for streams, which need one.
const STREAM_PREFETCH: i64 = 200;

pub(super) fn write(
    arguments: &Arguments,
    target: &Target,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let connections = arguments.count("consumers")?;
    let channels = arguments.count("consumer-channel-count")?;
    if connections < 1 || channels < 1 {
        return Ok(());
    }
    if target.queues == Queues::None {
        draft.note("consumers are left out: PerfTest gives them no queue");
        return Ok(());
    }
    let mut section = Section::new("[[consumers]]");
    section.set("queue", target.queues.name());
    section.set_some("member-queues", target.queues.of_members());
    section.set("count", connections * channels);
    let used = if arguments.has("exclusive") {
        exclusive_connections(target, connections, channels)
    } else {
        connections
    };
    if used != connections {
        draft.note(format!("--exclusive: consumers share {used} of {connections} connections"));
    }
    section.set("connections", used);
    section.set_protocol(arguments.protocol());
    let processing = processing(arguments, &mut section)?;
    if arguments.protocol() == Protocol::Stream {
        chunks(arguments, &mut section, draft)?;
    } else if arguments.has("polling") {
        polling(arguments, &mut section, draft)?;
        settling(arguments, &mut section, draft)?;
    } else {
        pushed(arguments, processing, &mut section, draft)?;
        settling(arguments, &mut section, draft)?;
    }
    section.set_some("messages", arguments.limit("cmessages")?);
    let delay = arguments.limit("consumer-start-delay")?;
    section.set_some("start-delay", delay.map(|seconds| format!("{seconds}s")));
    section.set_some("slow-start", arguments.has("slow-start").then_some("1s"));
    draft.push(section);
    Ok(())
}

/// Returns the number of connections for exclusive queues. PerfTest's consumers of a queue share the connection that
/// declared it.
fn exclusive_connections(target: &Target, connections: i64, channels: i64) -> i64 {
    let queues = match &target.queues {
        Queues::OneEach(Sequence::Numbered { from, to, .. }) => i64::from(to - from) + 1,
        Queues::OneEach(Sequence::Listed(names)) => i64::try_from(names.len()).unwrap_or(i64::MAX),
        // The number of queues in a file is only known when it is run; the others have one list of queues.
        Queues::OneEach(Sequence::File(_))
        | Queues::All(_)
        | Queues::None
        | Queues::OfConsumers => 1,
    };
    match (connections * channels <= queues, channels) {
        (true, _) => connections,
        (false, 1) => queues,
        // Scenarios cannot assign consumers like this: the queues belong to one connection.
        (false, _) => 1,
    }
}

/// Writes the processing times. Returns true if messages take some time.
fn processing(arguments: &Arguments, section: &mut Section) -> Result<bool, PerfTestError> {
    let steps = steps(arguments, "variable-latency", |micros, seconds| {
        [("time", format!("{micros}us")), ("for", format!("{seconds}s"))]
    })?;
    let micros = arguments.limit("consumer-latency")?;
    let rate: Option<f64> = arguments.number("consumer-rate")?;
    let rate = rate.filter(|rate| *rate > 0.0);
    let holds = !steps.is_empty() || micros.is_some() || rate.is_some();
    if steps.is_empty() {
        section.set_some("processing-time", micros.map(|micros| format!("{micros}us")));
    } else {
        section.set("processing-times", Value::Array(steps));
    }
    if arguments.has("polling") {
        // The rate of polling is that of its requests.
        return Ok(holds);
    }
    section.set_some("rate", rate);
    Ok(holds)
}

fn polling(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    section.set("polling", true);
    let rate: Option<f64> = arguments.number::<f64>("consumer-rate")?.filter(|rate| *rate > 0.0);
    let rate_interval = rate.map(|rate| Duration::from_secs_f64(1.0 / rate));
    let interval = arguments.limit("polling-interval")?.map(i64::unsigned_abs);
    let longest = rate_interval.max(interval.map(Duration::from_millis));
    section.set_some("poll-interval", longest.map(|time| format!("{}us", time.as_micros())));
    section.set_if("auto-ack", arguments.has("autoack"));
    let unused = ["qos", "global-qos", "consumer-args"].into_iter();
    for unused in unused.filter(|option| arguments.has(option)) {
        draft.note(format!("--{unused} means nothing to consumers with --polling"));
    }
    Ok(())
}

fn pushed(
    arguments: &Arguments,
    holds: bool,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let automatic = arguments.has("autoack") && !holds;
    if arguments.has("autoack") && !automatic {
        draft.note("--autoack would let the broker send on regardless: messages are acknowledged");
    }
    section.set_if("auto-ack", automatic);
    let default = arguments.has("stream-queue").then_some(STREAM_PREFETCH);
    let prefetch = arguments.limit("qos")?.or(default);
    let channel_prefetch = arguments.limit("global-qos")?;
    if automatic {
        if arguments.has("qos") || channel_prefetch.is_some() {
            draft.note("--qos and --global-qos mean nothing with --autoack");
        }
    } else {
        let needed = (holds && channel_prefetch.is_none()).then_some(PREFETCH);
        if prefetch.is_none() && needed.is_some() {
            draft.note(format!(
                "PerfTest has no limit here, but reads no more than {PREFETCH} messages of a channel \
                 ahead: prefetch"
            ));
        }
        section.set_some("prefetch", prefetch.or(needed));
        section.set_some("channel-prefetch", channel_prefetch);
    }
    consumer_arguments(arguments, section)
}

fn consumer_arguments(arguments: &Arguments, section: &mut Section) -> Result<(), PerfTestError> {
    let mut consumer_arguments = pairs(arguments, "consumer-args");
    if let Some(offset) = arguments.text("stream-consumer-offset") {
        consumer_arguments
            .insert("x-stream-offset".to_owned(), stream_offset("stream-consumer-offset", offset)?);
    }
    if !consumer_arguments.is_empty() {
        section.set("arguments", Value::Table(consumer_arguments));
    }
    Ok(())
}

/// Writes the keys of readers of the stream protocol, which take chunks and acknowledge nothing.
fn chunks(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let unused = [
        "autoack",
        "qos",
        "global-qos",
        "multi-ack-every",
        "nack",
        "requeue",
        "ctxsize",
        "polling",
        "polling-interval",
    ];
    for option in unused.into_iter().filter(|option| arguments.has(option)) {
        draft.note(format!("--{option} means nothing to readers of the stream protocol"));
    }
    consumer_arguments(arguments, section)
}

/// Parses the offset of a stream: a name, a number or a time with its UTC offset.
pub(super) fn stream_offset(option: &str, text: &str) -> Result<Value, PerfTestError> {
    let lower = text.to_ascii_lowercase();
    if ["first", "last", "next"].contains(&lower.as_str()) {
        return Ok(lower.into());
    }
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number.into());
    }
    let time = parse_offset_time(text).map(|time| display_utc(time).to_string());
    if let Some(time) = time.and_then(|time| time.parse().ok()) {
        return Ok(Value::Datetime(time));
    }
    let expected = "`first`, `last`, `next`, a number or a time: 2026-01-01T12:00:00Z";
    invalid_value(option, text, expected)
}

fn settling(
    arguments: &Arguments,
    section: &mut Section,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if arguments.has("autoack") {
        let unused = ["multi-ack-every", "nack", "ctxsize"].into_iter();
        for option in unused.filter(|option| arguments.has(option)) {
            draft.note(format!("--{option} means nothing with --autoack"));
        }
        return Ok(());
    }
    section.set_some("multi-ack-every", arguments.limit("multi-ack-every")?);
    section.set_some("tx-size", arguments.limit("ctxsize")?);
    if arguments.has("nack") {
        section.set("nack", true);
        section.set("requeue", arguments.switch("requeue", true));
    }
    Ok(())
}
