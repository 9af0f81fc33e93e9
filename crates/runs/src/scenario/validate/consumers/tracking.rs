//! Checks of stored offsets, single active consumers and filters of readers of streams.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{
            ConsumerGroup, FieldValue, MemberQueues, Protocol, QueueSpec, QueueType, STREAM_FILTER,
            STREAM_MATCH_UNFILTERED,
        },
    },
    fields,
};

/// Messages from one stored offset to the next, if the scenario does not say. The same as in RabbitMQ's Java client.
const STORE_EVERY: u32 = 10_000;

/// Checks names and single active consumers.
pub(super) fn keys(group: &mut ConsumerGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Stream {
        return of_streams_only(group);
    }
    if group.single_active_consumer && group.consumer_name.is_none() {
        let reason =
            "needs `consumer-name`: of the consumers with one name, the broker makes one active";
        return refuse("single-active-consumer", reason);
    }
    if group.super_stream.is_some() && !group.single_active_consumer {
        return refuse("super-stream", "is of single active consumers: leave it out");
    }
    if group.store_every.is_some() && group.consumer_name.is_none() {
        return refuse("store-every", "needs `consumer-name`, under which offsets are stored");
    }
    fields::at_least_one("store-every", group.store_every)?;
    if let Some(name) = &group.consumer_name {
        if name.is_empty() {
            return refuse("consumer-name", "is empty");
        }
        fields::short_string("consumer-name", name)?;
        group.store_every.get_or_insert(STORE_EVERY);
    }
    if group.single_active_consumer {
        // Each of them must be able to become the active one.
        group.member_queues = MemberQueues::All;
    }
    Ok(())
}

fn of_streams_only(group: &ConsumerGroup) -> Result<(), Problem> {
    let of_streams = "is of the stream protocol: set `protocol = \"stream\"`";
    let of_queues = "is of the stream protocol: for queues, give them `arguments.x-single-active-consumer = true`";
    let by_mqtt = group.protocol == Protocol::Mqtt;
    let given = [
        ("consumer-name", group.consumer_name.is_some(), of_streams),
        ("store-every", group.store_every.is_some(), of_streams),
        ("single-active-consumer", group.single_active_consumer, of_queues),
        ("super-stream", group.super_stream.is_some(), of_streams),
        ("filter-values", by_mqtt && group.filter_values.is_some(), of_streams),
        ("match-unfiltered", by_mqtt && group.match_unfiltered.is_some(), of_streams),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((key, _, reason)) => refuse(key, reason),
        None => Ok(()),
    }
}

/// Moves a filter into the arguments of `basic.consume`, where it has different names.
pub(super) fn filter(group: &mut ConsumerGroup, queue: Option<&QueueSpec>) -> Result<(), Problem> {
    let (values, unfiltered) = (group.filter_values.take(), group.match_unfiltered.take());
    let has_values = values.is_some() || group.arguments.contains_key(STREAM_FILTER);
    if let Some(values) = values {
        if let Some(queue) = queue.filter(|queue| queue.queue_type != QueueType::Stream) {
            let reason = format!("only streams have filters, and `{}` is none", queue.name);
            return refuse("filter-values", reason);
        }
        fields::filter_values(&values)?;
        let values = FieldValue::Array(values.into_iter().map(FieldValue::Text).collect());
        if group.arguments.insert(STREAM_FILTER.to_owned(), values).is_some() {
            return refuse("filter-values", "is set twice, also as `arguments.x-stream-filter`");
        }
    }
    let Some(unfiltered) = unfiltered else { return Ok(()) };
    if !has_values {
        return refuse(
            "match-unfiltered",
            "needs `filter-values`: without, all messages are wanted",
        );
    }
    let unfiltered = FieldValue::Bool(unfiltered);
    match group.arguments.insert(STREAM_MATCH_UNFILTERED.to_owned(), unfiltered) {
        Some(_) => refuse(
            "match-unfiltered",
            "is set twice, also as `arguments.x-stream-match-unfiltered`",
        ),
        None => Ok(()),
    }
}
