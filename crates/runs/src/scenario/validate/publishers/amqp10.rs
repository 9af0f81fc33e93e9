//! Checks of publishers of AMQP 1.0.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{MemberQueues, Protocol, PublisherGroup, QueueSpec},
    },
    fields,
};

/// Checks the keys that the protocol does not have. Each message has an outcome.
pub(super) fn keys(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Amqp10 {
        return Ok(());
    }
    let of_packing = "puts items into a message with properties of AMQP 0-9-1";
    let returns = "AMQP 1.0 always tells which messages no queue takes: leave it out";
    let of_outcomes =
        "RabbitMQ never tells whether it took settled messages of AMQP 1.0: leave it out";
    let no_transactions = "RabbitMQ has no transactions of AMQP 1.0: use `confirm-window`";
    let excluded = [
        ("tx-size", group.tx_size.is_some(), no_transactions),
        ("mandatory", group.mandatory, returns),
        ("confirms", group.confirms == Some(false), of_outcomes),
        ("items-per-message", group.items_per_message.is_some(), of_packing),
        ("compression", group.compression.is_some(), of_packing),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    properties(group)?;
    if group.confirm_window.is_none() {
        group.confirms = Some(true);
    }
    fields::amqp10_members(group.count, group.connections, group.channels)
}

fn properties(group: &PublisherGroup) -> Result<(), Problem> {
    let properties = &group.properties;
    let of_amqp091 =
        "is a property of AMQP 0-9-1: `subject`, `group-id` and `headers` are such as AMQP 1.0 has";
    let has_keys = group.routing_keys.is_some()
        || group.random_routing_keys.is_some()
        || group.to.is_some()
        || group.queue.is_some() && group.exchange.is_some();
    let of_keys =
        "is the routing key, before RabbitMQ 4.0, if messages have several: leave one of both out";
    let excluded = [
        ("type", properties.kind.is_some(), of_amqp091),
        ("app-id", properties.app_id.is_some(), of_amqp091),
        ("cluster-id", properties.cluster_id.is_some(), of_amqp091),
        ("subject", properties.subject.is_some() && has_keys, of_keys),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse_at(&["properties", key], reason);
    }
    let millis = properties.expiration.map_or(0, |time| time.as_millis());
    if millis > u32::MAX.into() {
        return refuse_at(&["properties", "expiration"], "must be less than 50 days");
    }
    fields::simple_values(&properties.headers)
        .map_err(|problem| problem.under("headers").under("properties"))
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
