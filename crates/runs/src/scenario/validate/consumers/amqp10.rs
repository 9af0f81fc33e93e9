//! Checks of consumers of AMQP 1.0.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{
            ConsumerGroup, FieldValue, MemberQueues, Protocol, QueueSpec, QueueType, SourceFilter,
        },
    },
    fields,
};

/// Arguments of `basic.consume` that have a counterpart.
const ARGUMENTS: [&str; 4] =
    ["x-stream-offset", "x-stream-filter", "x-stream-match-unfiltered", "x-priority"];

/// Checks the keys that the protocol does not have.
pub(super) fn keys(group: &ConsumerGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Amqp10 {
        let of_amqp10 = "is of AMQP 1.0: set `protocol = \"amqp-1.0\"`";
        return if group.filter.is_empty() { Ok(()) } else { refuse("filter", of_amqp10) };
    }
    filter(&group.filter).map_err(|problem| problem.under("filter"))?;
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

/// Properties of texts that a filter can name, but for those of [`is_of_type`].
const TEXT_PROPERTIES: [&str; 10] = [
    "message-id",
    "user-id",
    "to",
    "subject",
    "reply-to",
    "correlation-id",
    "content-type",
    "content-encoding",
    "group-id",
    "reply-to-group-id",
];

/// Most properties that RabbitMQ compares for a filter.
const COMPARED_MAX: usize = 16;

fn filter(filter: &SourceFilter) -> Result<(), Problem> {
    let SourceFilter { properties, headers, sql } = filter;
    if sql.as_ref().is_some_and(|sql| sql.trim().is_empty()) {
        return refuse("sql", "is empty: a condition such as `\"priority > 4\"`");
    }
    if sql.is_some() && !(properties.is_empty() && headers.is_empty()) {
        let reason = "can name properties and headers itself: leave the others out";
        return refuse("sql", reason);
    }
    for (key, table) in [("properties", properties), ("headers", headers)] {
        if table.len() > COMPARED_MAX {
            return refuse(key, format!("must be at most {COMPARED_MAX}, which RabbitMQ compares"));
        }
    }
    fields::simple_values(headers).map_err(|problem| problem.under("headers"))?;
    match properties.iter().find(|(name, value)| !is_of_type(name, value)) {
        None => Ok(()),
        Some((name, _)) => refuse_at(&["properties", name], expected(name)),
    }
}

/// Returns whether a property has values of this type.
fn is_of_type(name: &str, value: &FieldValue) -> bool {
    match name {
        "group-sequence" => {
            matches!(value, FieldValue::Integer(number) if u32::try_from(*number).is_ok())
        }
        "absolute-expiry-time" | "creation-time" => matches!(value, FieldValue::Time(_)),
        _ => TEXT_PROPERTIES.contains(&name) && matches!(value, FieldValue::Text(_)),
    }
}

fn expected(name: &str) -> String {
    match name {
        "group-sequence" => "must be a number".to_owned(),
        "absolute-expiry-time" | "creation-time" => "must be a date and time".to_owned(),
        _ if TEXT_PROPERTIES.contains(&name) => "must be a text".to_owned(),
        _ => format!(
            "is no property of AMQP 1.0; allowed are {}, absolute-expiry-time, creation-time, group-sequence",
            TEXT_PROPERTIES.join(", ")
        ),
    }
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
    if !group.filter.is_empty() && queue.queue_type != QueueType::Stream {
        // RabbitMQ says that such a filter is in place, and sends all messages.
        let reason = format!("only streams have filters, and `{}` is none", queue.name);
        return refuse("filter", reason);
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
