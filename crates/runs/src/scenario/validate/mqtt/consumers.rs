//! Checks of consumers that use MQTT.

use super::{
    super::super::{
        error::{Problem, refuse},
        model::{ConsumerGroup, MemberQueues, MqttVersion, Protocol},
    },
    clients, topics,
};

/// Checks the keys that the protocol does not have, and the topics.
pub(in crate::scenario::validate) fn keys(group: &mut ConsumerGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Mqtt {
        return only_mqtt(group);
    }
    lacking(group)?;
    clients::quality(group.qos)?;
    clients::own_connections(group.count, &mut group.connections, group.channels)?;
    if group.topics.is_empty() {
        return refuse("topics", "is missing: filters of topics, such as `[\"sensors/+\"]`");
    }
    group.topics.iter().try_for_each(|filter| topics::filter("topics", filter))?;
    limits(group)
}

fn only_mqtt(group: &ConsumerGroup) -> Result<(), Problem> {
    let given = [
        ("mqtt-version", group.mqtt_version.is_some()),
        ("qos", group.qos.is_some()),
        ("topics", !group.topics.is_empty()),
    ];
    if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
        return refuse(key, "is of MQTT: set `protocol = \"mqtt\"`");
    }
    if group.queue.is_empty() {
        return refuse("queue", "is missing: the queue to read");
    }
    Ok(())
}

fn lacking(group: &ConsumerGroup) -> Result<(), Problem> {
    let of_queues = "MQTT subscribes to topics: give `topics`";
    let of_acks = "MQTT acknowledges one message at a time";
    let of_refusals = "MQTT cannot refuse a message";
    let of_amqp = "MQTT has no such consumers";
    let excluded = [
        ("queue", !group.queue.is_empty(), of_queues),
        ("member-queues", group.member_queues != MemberQueues::default(), of_queues),
        ("credit", group.credit.is_some(), "counts chunks of the stream protocol"),
        ("channel-prefetch", group.channel_prefetch.is_some(), "MQTT has no channels"),
        ("multi-ack-every", group.multi_ack_every != 1, of_acks),
        ("nack", group.nack, of_refusals),
        ("requeue", group.requeue.is_some(), of_refusals),
        ("tx-size", group.tx_size.is_some(), "MQTT has no transactions"),
        ("polling", group.polling == Some(true), of_amqp),
        ("poll-interval", group.poll_interval.is_some(), of_amqp),
        ("priority", group.priority.is_some(), of_amqp),
        ("offset", group.offset.is_some(), "a subscription begins with the next message"),
        ("exclusive", group.exclusive, of_amqp),
        ("arguments", !group.arguments.is_empty(), of_amqp),
    ];
    match excluded.into_iter().find(|(_, given, _)| *given) {
        Some((key, _, reason)) => refuse(key, reason),
        None => Ok(()),
    }
}

/// Joins `qos` with `auto-ack`, which say the same, and checks the limit of messages without an acknowledgement.
fn limits(group: &mut ConsumerGroup) -> Result<(), Problem> {
    if group.auto_ack && group.qos == Some(1) {
        return refuse("auto-ack", "contradicts `qos = 1`: without acknowledgements it is 0");
    }
    let qos = *group.qos.get_or_insert(u8::from(!group.auto_ack));
    group.auto_ack = qos == 0;
    let version = *group.mqtt_version.get_or_insert_default();
    if group.prefetch.is_some() && version == MqttVersion::V3 {
        let reason = "needs `mqtt-version = \"5\"`: with 3.1.1 only the broker limits it (`mqtt.prefetch`, 10)";
        return refuse("prefetch", reason);
    }
    if group.prefetch.is_some() && qos == 0 {
        return refuse("prefetch", "needs `qos = 1`: without acknowledgements nothing is limited");
    }
    Ok(())
}
