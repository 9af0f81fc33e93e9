//! Checks of publishers of AMQP 1.0.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{BodyKind, MemberQueues, MessageProperties, Protocol, PublisherGroup, QueueSpec},
    },
    fields,
};

/// Checks the keys that the protocol does not have. Each message has an outcome.
pub(super) fn keys(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Amqp10 {
        return Ok(());
    }
    let of_packing = "puts items into a message with properties of AMQP 0-9-1";
    let of_stamps = "has its time stamp in a property of AMQP 0-9-1: give `size` or `sizes`";
    let returns = "AMQP 1.0 always tells which messages no queue takes: leave it out";
    let of_outcomes =
        "RabbitMQ never tells whether it took settled messages of AMQP 1.0: leave it out";
    let has_body = group.body.is_some_and(|body| body != BodyKind::default());
    let no_transactions = "RabbitMQ has no transactions of AMQP 1.0: use `confirm-window`";
    let excluded = [
        ("tx-size", group.tx_size.is_some(), no_transactions),
        ("mandatory", group.mandatory, returns),
        ("confirms", group.confirms == Some(false), of_outcomes),
        ("items-per-message", group.items_per_message.is_some(), of_packing),
        ("compression", group.compression.is_some(), of_packing),
        ("body", has_body, of_stamps),
        ("body-files", group.body_files.is_some(), of_stamps),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    properties(&group.properties)?;
    if group.confirm_window.is_none() {
        group.confirms = Some(true);
    }
    fields::amqp10_members(group.count, group.connections, group.channels)
}

fn properties(properties: &MessageProperties) -> Result<(), Problem> {
    let excluded = [
        ("content-encoding", properties.content_encoding.is_some()),
        ("correlation-id", properties.correlation_id.is_some()),
        ("reply-to", properties.reply_to.is_some()),
        ("message-id", properties.message_id.is_some()),
        ("timestamp", properties.timestamp.is_some()),
        ("type", properties.kind.is_some()),
        ("user-id", properties.user_id.is_some()),
        ("app-id", properties.app_id.is_some()),
        ("cluster-id", properties.cluster_id.is_some()),
        ("headers", !properties.headers.is_empty()),
    ];
    if let Some((key, _)) = excluded.into_iter().find(|(_, given)| *given) {
        let reason = "cannot be set with AMQP 1.0, but `content-type`, `delivery-mode`, `expiration` and `priority` can";
        return refuse_at(&["properties", key], reason);
    }
    let millis = properties.expiration.map_or(0, |time| time.as_millis());
    if millis > u32::MAX.into() {
        return refuse_at(&["properties", "expiration"], "must be less than 50 days");
    }
    Ok(())
}

/// Checks that each publisher has one queue, which is the target of its link. With an exchange, its messages have their
/// keys.
pub(super) fn target(group: &PublisherGroup, queue: Option<&QueueSpec>) -> Result<(), Problem> {
    let has_queue = group.protocol == Protocol::Amqp10 && group.exchange.is_none();
    let Some(queue) = queue.filter(|_| has_queue) else { return Ok(()) };
    let named =
        if group.queue.as_ref() == Some(&queue.name) { queue.queue_names().len() } else { 1 };
    let have_one = match group.member_queues {
        MemberQueues::Share => named <= group.count as usize,
        MemberQueues::One => true,
        MemberQueues::All => named == 1,
    };
    if have_one {
        return Ok(());
    }
    let reason = format!(
        "leaves a publisher more than one of {named} queues, and its link of AMQP 1.0 has one target: give at least \
         `count = {named}` with `member-queues = \"share\"`, or an exchange"
    );
    refuse("member-queues", reason)
}
