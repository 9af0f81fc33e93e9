//! Checks of publishers of the stream protocol.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{MemberQueues, Protocol, PublisherGroup, QueueSpec, partitions},
    },
    fields::{self, STREAM_MEMBERS},
};
use crate::scenario::validate::context::Context;

/// Checks the keys that the protocol does not have. It confirms each message.
pub(super) fn keys(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Stream {
        let of_streams = "is of the stream protocol: set `protocol = \"stream\"`";
        let excluded = [
            ("reference", group.reference),
            ("sub-entry-size", group.sub_entry_size.is_some()),
            ("filter-values", !group.filter_values.is_empty()),
        ];
        let given = excluded.into_iter().find(|(_, is_given)| *is_given);
        return given.map_or(Ok(()), |(key, _)| refuse(key, of_streams));
    }
    let of_amqp = "is a property of AMQP 0-9-1, which messages of the stream protocol do not have";
    let of_packing = "puts items into a message with properties of AMQP 0-9-1, which messages of the stream protocol \
                      do not have";
    let of_compression = "is of entries of several messages: give `sub-entry-size`";
    let is_compressed = group.compression.is_some();
    let of_reference = "would not find messages again that are sent again in other entries: leave one of the two out";
    let of_filters = "is of single messages: an entry of several has no filter value";
    let has_filters = !group.filter_values.is_empty();
    let excluded = [
        ("filter-values", has_filters && group.sub_entry_size.is_some(), of_filters),
        ("tx-size", group.tx_size.is_some(), "streams have no transactions: use `confirm-window`"),
        ("mandatory", group.mandatory, "a stream takes every message"),
        ("persistent", group.persistent.is_some(), "streams keep every message: leave it out"),
        ("properties", !group.properties.is_empty(), of_amqp),
        ("items-per-message", group.items_per_message.is_some(), of_packing),
        ("compression", is_compressed && group.sub_entry_size.is_none(), of_compression),
        ("sub-entry-size", group.sub_entry_size == Some(0), "must be from 1 to 65535"),
        ("sub-entry-size", group.sub_entry_size.is_some() && group.reference, of_reference),
        ("confirms", group.confirms == Some(false), "streams confirm every message"),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    if has_filters {
        fields::filter_values(&group.filter_values)?;
    }
    if group.confirm_window.is_none() {
        group.confirms = Some(true);
    }
    fields::stream_members(group.count, group.connections, group.channels)
}

/// Checks that each publisher has one stream, or the partitions of a super stream.
pub(super) fn target(
    group: &PublisherGroup,
    queue: Option<&QueueSpec>,
    context: &Context<'_>,
) -> Result<(), Problem> {
    if group.protocol != Protocol::Stream {
        return Ok(());
    }
    if let Some(exchange) = &group.exchange {
        return super_stream(group, exchange, context);
    }
    let Some(queue) = queue else { return Ok(()) };
    fields::is_stream(queue)?;
    let named =
        if group.queue.as_ref() == Some(&queue.name) { queue.queue_names().len() } else { 1 };
    let have_one = match group.member_queues {
        MemberQueues::Share => named <= group.count as usize,
        MemberQueues::One => true,
        MemberQueues::All => named == 1,
    };
    if !have_one {
        let reason = format!(
            "leaves a publisher more than one of {named} streams, and it can write to one only: give at least \
             `count = {named}` with `member-queues = \"share\"`"
        );
        return refuse("member-queues", reason);
    }
    Ok(())
}

fn super_stream(
    group: &PublisherGroup,
    exchange: &str,
    context: &Context<'_>,
) -> Result<(), Problem> {
    let Some(streams) = partitions(context.queues, exchange) else {
        let reason = format!(
            "`{exchange}` is no super stream of the scenario: give `queue`, or `partitions` to a stream of this name"
        );
        return refuse("exchange", reason);
    };
    let most = group.count.div_ceil(group.connections.max(1));
    let ids = most.saturating_mul(u32::try_from(streams.queue_names().len()).unwrap_or(u32::MAX));
    if ids > STREAM_MEMBERS {
        let reason = format!(
            "has {ids} publishers of partitions, and the stream protocol has numbers for {STREAM_MEMBERS}: give more \
             connections"
        );
        return refuse("connections", reason);
    }
    Ok(())
}
