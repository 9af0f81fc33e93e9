//! Checks of a group of consumers.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{
            ConsumerGroup, FieldValue, MemberQueues, ProcessingStep, QueueNames, QueueSpec,
            QueueType,
        },
        wire,
    },
    fields,
};
use super::settling;
use crate::scenario::validate::context::{Context, each};

pub(in crate::scenario::validate) fn group(
    index: usize,
    mut wire: wire::Consumers,
    context: &Context<'_>,
) -> Result<ConsumerGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    let queue = fields::queue(&wire.queue, context)?;
    settling::acknowledgement(&wire)?;
    settling::transactions(&wire, &spread)?;
    settling::shared_channel(&wire, &spread)?;
    settling::polling(&wire, &spread)?;
    let reason = "give a group of consumers for each value";
    fields::no_placeholder("arguments", &wire.arguments, reason)?;
    let processing_times = processing_times(&wire)?;
    settling::held(&wire)?;
    priority(&mut wire)?;
    offset(&mut wire, queue)?;
    if let Some(queue) = queue {
        fits(&wire, &spread, queue)?;
    }
    let processing_time = match processing_times.first() {
        Some(step) => step.time,
        None => fields::delay("processing-time", wire.processing_time.as_deref())?,
    };
    let interval = fields::delay("poll-interval", wire.poll_interval.as_deref())?;
    Ok(ConsumerGroup {
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        prefetch: wire.prefetch,
        channel_prefetch: wire.channel_prefetch,
        auto_ack: wire.auto_ack.unwrap_or(false),
        multi_ack_every: wire.multi_ack_every.unwrap_or(1),
        settle: settling::settle(&wire),
        tx_size: wire.tx_size,
        rate: fields::rate(wire.rate)?,
        processing_time,
        processing_times,
        polling: wire.polling.unwrap_or(false).then_some(interval),
        exclusive: wire.exclusive.unwrap_or(false),
        unpack: wire.unpack.unwrap_or(true),
        messages: fields::at_least_one("messages", wire.messages)?,
        start_delay: fields::delay("start-delay", wire.start_delay.as_deref())?,
        slow_start: fields::delay("slow-start", wire.slow_start.as_deref())?,
        queue: fields::short_string("queue", wire.queue)?,
        member_queues: wire.member_queues.unwrap_or_default(),
        arguments: wire.arguments,
        name: wire.name.unwrap_or_else(|| format!("consumers-{index}")),
    })
}

fn processing_times(wire: &wire::Consumers) -> Result<Vec<ProcessingStep>, Problem> {
    let Some(steps) = &wire.processing_times else { return Ok(Vec::new()) };
    if wire.processing_time.is_some() {
        let reason = "says the same as `processing-time` over time: leave one of the two out";
        return refuse("processing-times", reason);
    }
    if steps.is_empty() {
        let reason = "has no step: `{ time = \"1ms\", for = \"10s\" }`";
        return refuse("processing-times", reason);
    }
    each("processing-times", steps.iter().collect(), |_, step| {
        let lasts = fields::duration("for", Some(&step.lasts))?.unwrap_or_default();
        Ok(ProcessingStep { time: fields::delay("time", Some(&step.time))?, lasts })
    })
}

/// Moves `priority` into the arguments of `basic.consume`, where it has a different name.
fn priority(wire: &mut wire::Consumers) -> Result<(), Problem> {
    let Some(priority) = wire.priority.take() else { return Ok(()) };
    let argument = FieldValue::Integer(priority);
    match wire.arguments.insert("x-priority".to_owned(), argument) {
        Some(_) => refuse("priority", "is set twice, also as `arguments.x-priority`"),
        None => Ok(()),
    }
}

/// Moves `offset` into the arguments of `basic.consume`, where it has a different name.
fn offset(wire: &mut wire::Consumers, queue: Option<&QueueSpec>) -> Result<(), Problem> {
    let Some(offset) = wire.offset.take() else { return Ok(()) };
    if let Some(queue) = queue.filter(|queue| queue.queue_type != QueueType::Stream) {
        let reason = format!("only streams have offsets, and `{}` is none", queue.name);
        return refuse("offset", reason);
    }
    if !is_offset(&offset) {
        return refuse(
            "offset",
            "is none of `first`, `last`, `next`, a number of messages from the beginning (1000), a date and \
             time (2026-01-01T12:00:00Z), or how long ago (`1h`; RabbitMQ's units: Y, M, D, h, m, s)",
        );
    }
    match wire.arguments.insert("x-stream-offset".to_owned(), offset) {
        Some(_) => refuse("offset", "is set twice, also as `arguments.x-stream-offset`"),
        None => Ok(()),
    }
}

fn is_offset(offset: &FieldValue) -> bool {
    match offset {
        FieldValue::Integer(number) => *number >= 0,
        FieldValue::Time(_) => true,
        FieldValue::Text(text) => {
            let digits = text.strip_suffix(['Y', 'M', 'D', 'h', 'm', 's']);
            ["first", "last", "next"].contains(&text.as_str())
                || digits.is_some_and(|digits| digits.parse::<u32>().is_ok())
        }
        _ => false,
    }
}

fn fits(wire: &wire::Consumers, spread: &fields::Spread, queue: &QueueSpec) -> Result<(), Problem> {
    let is_stream = queue.queue_type == QueueType::Stream;
    if is_stream && wire.auto_ack == Some(true) {
        return refuse("auto-ack", "RabbitMQ has no automatic acknowledgement for streams");
    }
    if is_stream && wire.polling == Some(true) {
        return refuse("polling", "RabbitMQ does not answer `basic.get` for streams");
    }
    if is_stream && wire.tx_size.is_some() {
        return refuse("tx-size", "streams do not support transactions");
    }
    if queue.queue_type != QueueType::Classic && wire.channel_prefetch.is_some() {
        let reason = "only classic queues take part in a channel's limit: use `prefetch`";
        return refuse("channel-prefetch", reason);
    }
    if is_stream && wire.prefetch.is_none() {
        let reason = "is missing: RabbitMQ refuses to read a stream without it; 1 to 65535";
        return refuse("prefetch", reason);
    }
    if !is_stream && wire.arguments.contains_key("x-stream-offset") {
        let reason = format!("only streams have offsets, and `{}` is none", queue.name);
        let refused: Result<(), Problem> = refuse("x-stream-offset", reason);
        return refused.map_err(|problem| problem.under("arguments"));
    }
    let is_named_by_broker = queue.names == QueueNames::ByBroker;
    if is_named_by_broker && spread.is_shared() {
        let reason =
            "each consumer of a `server-named` queue needs a channel of its own: leave it out";
        return refuse("channels", reason);
    }
    let reads_all = wire.member_queues == Some(MemberQueues::All) && spread.count > 1;
    let readers_fit =
        is_named_by_broker || !reads_all && spread.count as usize <= queue.queue_names().len();
    if wire.exclusive == Some(true) && !readers_fit {
        let reason = "an exclusive consumer has its queue alone: `count` is more than the queues";
        return refuse("exclusive", reason);
    }
    Ok(())
}

/// Checks that an exclusive queue belongs to one connection: that of its consumers. Queues that the broker names have
/// one consumer each.
pub(in crate::scenario::validate) fn exclusive_queues(
    queues: &[QueueSpec],
    groups: &[ConsumerGroup],
) -> Result<(), Problem> {
    let is_shared = |queue: &&QueueSpec| queue.exclusive && queue.names != QueueNames::ByBroker;
    for queue in queues.iter().filter(is_shared) {
        let mut readers =
            groups.iter().enumerate().filter(|(_, group)| queue.is_meant_by(&group.queue));
        let first = readers.next();
        let crowded = first.filter(|(_, group)| !has_own_readers(queue, group)).or(readers.next());
        if let Some((index, _)) = crowded {
            let reason = format!(
                "`{}` is exclusive: one group can read it, with `connections = 1` or so that all \
                 consumers of each of its queues are on one connection",
                queue.name
            );
            let refused: Result<(), Problem> = refuse("queue", reason);
            return refused.map_err(|problem| problem.under(index.to_string()).under("consumers"));
        }
    }
    Ok(())
}

/// Returns whether all consumers of each queue are on one connection. Member `m` reads the queue `m` modulo the queues,
/// on the connection `m` modulo the connections.
fn has_own_readers(queue: &QueueSpec, group: &ConsumerGroup) -> bool {
    let queues = if queue.name == group.queue { queue.queue_names().len() } else { 1 };
    let is_one_each = group.member_queues != MemberQueues::All
        && (group.count as usize <= queues || queues % group.connections as usize == 0);
    group.connections == 1 || is_one_each
}
