//! Checks of readers of the stream protocol.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{
            ConsumerGroup, MemberQueues, Protocol, QueueSpec, STREAM_FILTER,
            STREAM_MATCH_UNFILTERED,
        },
    },
    fields,
};

/// Chunks that the broker may send before the reader has taken the first of them, if the scenario does not say. The same
/// as in RabbitMQ's own clients.
const CREDIT: u16 = 10;

/// Arguments of `basic.consume` that have a counterpart.
const ARGUMENTS: [&str; 3] = ["x-stream-offset", STREAM_FILTER, STREAM_MATCH_UNFILTERED];

/// Checks the keys that the protocol does not have.
pub(super) fn keys(group: &mut ConsumerGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Stream {
        return match group.credit {
            Some(_) => refuse("credit", "counts chunks of the stream protocol: use `prefetch`"),
            None => Ok(()),
        };
    }
    let of_credit = "counts messages that are not acknowledged, and the stream protocol has no acknowledgements: use \
                     `credit`, in chunks";
    let of_acks = "the stream protocol has no acknowledgements";
    let of_amqp = "the stream protocol has no such consumers";
    let excluded = [
        ("prefetch", group.prefetch.is_some(), of_credit),
        ("channel-prefetch", group.channel_prefetch.is_some(), of_credit),
        ("auto-ack", group.auto_ack, of_acks),
        ("multi-ack-every", group.multi_ack_every != 1, of_acks),
        ("nack", group.nack, of_acks),
        ("requeue", group.requeue.is_some(), of_acks),
        ("tx-size", group.tx_size.is_some(), "streams have no transactions"),
        ("polling", group.polling == Some(true), of_amqp),
        ("poll-interval", group.poll_interval.is_some(), of_amqp),
        ("priority", group.priority.is_some(), of_amqp),
        ("exclusive", group.exclusive, of_amqp),
        (
            "arguments",
            !group.arguments.keys().all(|key| ARGUMENTS.contains(&key.as_str())),
            of_amqp,
        ),
        ("credit", group.credit == Some(0), "must be from 1 to 65535"),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    group.credit.get_or_insert(CREDIT);
    fields::stream_members(group.count, group.connections, group.channels)
}

/// Checks that the queue is a stream, and that the subscriptions of a connection have numbers: one for each reader and
/// stream.
pub(super) fn target(group: &ConsumerGroup, queue: &QueueSpec) -> Result<(), Problem> {
    fields::is_stream(queue)?;
    let named = if group.queue == queue.name { queue.queue_names().len() } else { 1 };
    let of_each = match group.member_queues {
        MemberQueues::Share => named.div_ceil(group.count as usize),
        MemberQueues::One => 1,
        MemberQueues::All => named,
    };
    let all = of_each * group.count.div_ceil(group.connections) as usize;
    if all > fields::STREAM_MEMBERS as usize {
        let reason = format!(
            "leaves up to {all} subscriptions on a connection, and the stream protocol has numbers for {}: more \
             connections and readers are needed",
            fields::STREAM_MEMBERS
        );
        return refuse("connections", reason);
    }
    Ok(())
}
