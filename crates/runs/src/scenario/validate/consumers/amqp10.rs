//! Checks of consumers of AMQP 1.0.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{ConsumerGroup, MemberQueues, Protocol, QueueSpec, QueueType},
    },
    fields,
};

/// Arguments of `basic.consume` that have a counterpart.
const ARGUMENTS: [&str; 4] =
    ["x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered", "x-priority"];

/// Checks the keys that the protocol does not have.
pub(super) fn keys(group: &ConsumerGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Amqp10 {
        return Ok(());
    }
    let of_link = "AMQP 1.0 has a limit for each consumer: use `prefetch`";
    let of_amqp = "AMQP 1.0 has no such consumers";
    let no_transactions = "RabbitMQ has no transactions of AMQP 1.0";
    let has_others = !group.arguments.keys().all(|key| ARGUMENTS.contains(&key.as_str()));
    let excluded = [
        ("channel-prefetch", group.channel_prefetch.is_some(), of_link),
        ("tx-size", group.tx_size.is_some(), no_transactions),
        ("polling", group.polling == Some(true), of_amqp),
        ("poll-interval", group.poll_interval.is_some(), of_amqp),
        ("exclusive", group.exclusive, of_amqp),
        ("arguments", has_others, "AMQP 1.0 has offset, filter and priority of a consumer only"),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    fields::amqp10_members(group.count, group.connections, group.channels)
}

/// Checks that each consumer has one queue, which is the source of its link, and that others may read it.
pub(super) fn target(group: &ConsumerGroup, queue: &QueueSpec) -> Result<(), Problem> {
    if group.protocol != Protocol::Amqp10 {
        return Ok(());
    }
    if queue.exclusive || queue.server_named {
        let reason = format!("`{}` belongs to a connection of AMQP 0-9-1", queue.name);
        return refuse("protocol", reason);
    }
    let filter = group.arguments.keys().find(|key| key.starts_with("x-stream-"));
    if let Some(key) = filter.filter(|_| queue.queue_type != QueueType::Stream) {
        let reason = format!("only streams have offsets and filters, and `{}` is none", queue.name);
        return refuse_at(&["arguments", key], reason);
    }
    let named = if group.queue == queue.name { queue.queue_names().len() } else { 1 };
    let have_one = match group.member_queues {
        MemberQueues::Share => named <= group.count as usize,
        MemberQueues::One => true,
        MemberQueues::All => named == 1,
    };
    if have_one {
        return Ok(());
    }
    let reason = format!(
        "leaves a consumer more than one of {named} queues, and its link of AMQP 1.0 has one source: give at least \
         `count = {named}` with `member-queues = \"share\"`"
    );
    refuse("member-queues", reason)
}
