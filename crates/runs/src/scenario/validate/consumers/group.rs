//! Checks of a group of consumers.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{ConsumerGroup, FieldValue, MemberQueues, Protocol, QueueSpec, QueueType},
    },
    fields, mqtt,
};
use super::{amqp10, forward, settling, stream, tracking};
use crate::scenario::validate::context::Context;

pub(in crate::scenario::validate) fn group(
    index: usize,
    group: &mut ConsumerGroup,
    context: &Context<'_>,
) -> Result<(), Problem> {
    fields::name(&mut group.name, "consumers", index);
    stream::keys(group)?;
    tracking::keys(group)?;
    amqp10::keys(group)?;
    mqtt::consumer_keys(group)?;
    let spread = fields::spread(group.count, group.connections, &mut group.channels)?;
    let has_queue = group.topics.is_empty();
    let queue = if has_queue { fields::queue(&group.queue, context)? } else { None };
    fields::short_string("queue", &group.queue)?;
    settling::acknowledgement(group)?;
    settling::transactions(group, spread)?;
    settling::shared_channel(group, spread)?;
    settling::polling(group, spread)?;
    let reason = "give a group of consumers for each value";
    fields::no_placeholder("arguments", &group.arguments, reason)?;
    processing_times(group)?;
    refusal_shares(group)?;
    settling::held(group)?;
    settling::concurrency(group)?;
    forward::forward(group, context)?;
    priority(group)?;
    offset(group, queue)?;
    tracking::filter(group, queue)?;
    if let Some(queue) = queue {
        fits(group, spread, queue)?;
    }
    fields::rate(group.rate)?;
    fields::at_least_one("messages", group.messages)?;
    fill_in(group);
    Ok(())
}

/// Fills in defaults that follow from other keys, and removes what says nothing.
fn fill_in(group: &mut ConsumerGroup) {
    let polls = group.polling == Some(true);
    group.polling = Some(polls);
    group.poll_interval = polls.then(|| group.poll_interval.unwrap_or_default());
    group.requeue = group.nack.then(|| group.requeue.unwrap_or(true));
    group.processing_time = group.processing_time.filter(|time| !time.is_zero());
}

fn refusal_shares(group: &ConsumerGroup) -> Result<(), Problem> {
    let shares = [("nack-share", group.nack_share), ("requeue-share", group.requeue_share)];
    for (key, share) in shares {
        let Some(share) = share else { continue };
        if !group.nack {
            return refuse(key, "needs `nack = true`");
        }
        if !(share > 0.0 && share < 1.0) {
            let reason = "must be above 0 and below 1; without it all messages are treated alike";
            return refuse(key, reason);
        }
        if group.protocol != Protocol::Amqp091 {
            return refuse(key, "needs `protocol = \"amqp-0-9-1\"`");
        }
        if group.multi_ack_every > 1 {
            return refuse(key, "needs a frame for each message: leave `multi-ack-every` out");
        }
    }
    match (group.requeue_share, group.requeue) {
        (Some(_), Some(false)) => {
            refuse("requeue-share", "says it for each message: leave `requeue` out")
        }
        _ => Ok(()),
    }
}

fn processing_times(group: &ConsumerGroup) -> Result<(), Problem> {
    if let Some(shares) = &group.processing_time_shares {
        let key = "processing-time-shares";
        if group.processing_time.is_some() || group.processing_times.is_some() {
            let reason =
                "has the times of all messages: leave `processing-time` and `processing-times` out";
            return refuse(key, reason);
        }
        fields::shares(key, shares.iter().map(|share| share.share))?;
    }
    let Some(steps) = &group.processing_times else { return Ok(()) };
    if group.processing_time.is_some() {
        let reason = "says the same as `processing-time` over time: leave one of the two out";
        return refuse("processing-times", reason);
    }
    if steps.is_empty() {
        let reason = "has no step: `{ time = \"1ms\", for = \"10s\" }`";
        return refuse("processing-times", reason);
    }
    Ok(())
}

/// Moves `priority` into the arguments of `basic.consume`, where it has a different name.
fn priority(group: &mut ConsumerGroup) -> Result<(), Problem> {
    let Some(priority) = group.priority.take() else { return Ok(()) };
    let argument = FieldValue::Integer(priority);
    match group.arguments.insert("x-priority".to_owned(), argument) {
        Some(_) => refuse("priority", "is set twice, also as `arguments.x-priority`"),
        None => Ok(()),
    }
}

/// Moves `offset` into the arguments of `basic.consume`, where it has a different name.
fn offset(group: &mut ConsumerGroup, queue: Option<&QueueSpec>) -> Result<(), Problem> {
    let Some(offset) = group.offset.take() else { return Ok(()) };
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
    match group.arguments.insert("x-stream-offset".to_owned(), offset) {
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

fn fits(group: &ConsumerGroup, spread: fields::Spread, queue: &QueueSpec) -> Result<(), Problem> {
    if group.protocol == Protocol::Stream {
        return stream::target(group, queue);
    }
    amqp10::target(group, queue)?;
    let is_stream = queue.queue_type == QueueType::Stream;
    if is_stream && group.auto_ack {
        return refuse("auto-ack", "RabbitMQ has no automatic acknowledgement for streams");
    }
    if is_stream && group.polling == Some(true) {
        return refuse("polling", "RabbitMQ does not answer `basic.get` for streams");
    }
    if is_stream && group.tx_size.is_some() {
        return refuse("tx-size", "streams do not support transactions");
    }
    if queue.queue_type != QueueType::Classic && group.channel_prefetch.is_some() {
        let reason = "only classic queues take part in a channel's limit: use `prefetch`";
        return refuse("channel-prefetch", reason);
    }
    if is_stream && group.prefetch.is_none() {
        let reason = "is missing: RabbitMQ refuses to read a stream without it; 1 to 65535";
        return refuse("prefetch", reason);
    }
    if !is_stream && group.arguments.contains_key("x-stream-offset") {
        let reason = format!("only streams have offsets, and `{}` is none", queue.name);
        return refuse_at(&["arguments", "x-stream-offset"], reason);
    }
    let is_named_by_broker = queue.server_named;
    if is_named_by_broker && spread.is_shared() {
        let reason =
            "each consumer of a `server-named` queue needs a channel of its own: leave it out";
        return refuse("channels", reason);
    }
    let reads_all = group.member_queues == MemberQueues::All && spread.count > 1;
    let readers_fit =
        is_named_by_broker || !reads_all && spread.count as usize <= queue.queue_names().len();
    if group.exclusive && !readers_fit {
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
    let is_shared = |queue: &&QueueSpec| queue.exclusive && !queue.server_named;
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
            return refuse_at(&["consumers", &index.to_string(), "queue"], reason);
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
