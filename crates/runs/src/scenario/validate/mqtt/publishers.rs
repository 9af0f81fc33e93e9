//! Checks of publishers that use MQTT.

use super::{
    super::super::{
        error::{Problem, refuse, refuse_at},
        model::{BodyKind, FieldValue, MessageProperties, MqttVersion, Protocol, PublisherGroup},
    },
    clients, topics,
};

/// The exchange of MQTT, unless the broker's settings name another.
const EXCHANGE: &str = "amq.topic";

/// Checks the keys that the protocol does not have, and turns topics into routing keys.
pub(in crate::scenario::validate) fn keys(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.protocol != Protocol::Mqtt {
        return only_mqtt(group);
    }
    lacking(group)?;
    clients::quality(group.qos)?;
    clients::own_connections(group.count, &mut group.connections, group.channels)?;
    target(group)?;
    if *group.mqtt_version.get_or_insert_default() == MqttVersion::V3 && group.topic_alias {
        return refuse("topic-alias", "needs `mqtt-version = \"5\"`");
    }
    if *group.qos.get_or_insert(1) == 0 {
        return unconfirmed(group);
    }
    if group.confirms == Some(false) {
        return refuse(
            "confirms",
            "is false, but the broker confirms every message with `qos = 1`",
        );
    }
    if group.confirm_window.is_none() {
        group.confirms = Some(true);
    }
    Ok(())
}

fn only_mqtt(group: &PublisherGroup) -> Result<(), Problem> {
    let given = [
        ("mqtt-version", group.mqtt_version.is_some()),
        ("qos", group.qos.is_some()),
        ("topic-alias", group.topic_alias),
        ("topic", group.topic.is_some()),
        ("topics", group.topics.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => refuse(key, "is of MQTT: set `protocol = \"mqtt\"`"),
        None => Ok(()),
    }
}

fn lacking(group: &PublisherGroup) -> Result<(), Problem> {
    let is_v3 = group.mqtt_version.unwrap_or_default() == MqttVersion::V3;
    let of_v5 = "needs `mqtt-version = \"5\"`: messages of MQTT 3.1.1 have no properties";
    let of_packing = "puts items into a message with properties of AMQP 0-9-1, which messages of MQTT do not have";
    let of_stamps = "has its time stamp in a property of MQTT 5: give `mqtt-version = \"5\"`, or `size` or `sizes`";
    let has_body = group.body.is_some_and(|body| body != BodyKind::default());
    let excluded = [
        ("tx-size", group.tx_size.is_some(), "MQTT has no transactions: use `confirm-window`"),
        ("mandatory", group.mandatory, "MQTT 5 tells of unroutable messages without being asked"),
        ("persistent", group.persistent.is_some(), "follows from `qos`: 1 is persistent"),
        ("properties", is_v3 && !group.properties.is_empty(), of_v5),
        ("items-per-message", group.items_per_message.is_some(), of_packing),
        ("compression", group.compression.is_some(), of_packing),
        ("body", is_v3 && has_body, of_stamps),
        ("body-files", is_v3 && group.body_files.is_some(), of_stamps),
    ];
    match excluded.into_iter().find(|(_, given, _)| *given) {
        Some((key, _, reason)) => refuse(key, reason),
        None => properties(&group.properties).map_err(|problem| problem.under("properties")),
    }
}

fn properties(properties: &MessageProperties) -> Result<(), Problem> {
    let of_amqp = "is a property of AMQP: MQTT 5 has `content-type`, `correlation-id`, `expiration`, `headers` and \
                   `reply-to`";
    let excluded = [
        ("content-encoding", properties.content_encoding.is_some()),
        ("delivery-mode", properties.delivery_mode.is_some()),
        ("priority", properties.priority.is_some()),
        ("message-id", properties.message_id.is_some()),
        ("timestamp", properties.timestamp.is_some()),
        ("type", properties.kind.is_some()),
        ("user-id", properties.user_id.is_some()),
        ("app-id", properties.app_id.is_some()),
        ("cluster-id", properties.cluster_id.is_some()),
        ("subject", properties.subject.is_some()),
        ("group-id", properties.group_id.is_some()),
    ];
    if let Some((key, _)) = excluded.into_iter().find(|(_, given)| *given) {
        return refuse(key, of_amqp);
    }
    let time = properties.expiration;
    let is_whole =
        time.is_none_or(|time| time.subsec_nanos() == 0 && u32::try_from(time.as_secs()).is_ok());
    if !is_whole {
        return refuse("expiration", "must be whole seconds with MQTT");
    }
    let is_text = |value: &FieldValue| matches!(value, FieldValue::Text(_));
    match properties.headers.iter().find(|(_, value)| !is_text(value)) {
        Some((name, _)) => refuse_at(&["headers", name], "must be a text: MQTT has no others"),
        None => Ok(()),
    }
}

/// Turns topics into routing keys of the exchange of MQTT, as the broker does.
fn target(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.exchange.as_ref().is_some_and(|exchange| exchange != EXCHANGE) {
        let reason = format!("MQTT publishes to `{EXCHANGE}`: leave it out");
        return refuse("exchange", reason);
    }
    if group.queue.is_some() {
        let reason = format!(
            "MQTT publishes to topics: give `topic`, and bind the queue to `{EXCHANGE}` with the topic as its routing \
             key, `.` for `/`"
        );
        return refuse("queue", reason);
    }
    group.exchange = Some(EXCHANGE.to_owned());
    let has_keys = group.routing_key.is_some()
        || group.routing_keys.is_some()
        || group.random_routing_keys.is_some();
    match (group.topic.take(), group.topics.take()) {
        (Some(_), Some(_)) => refuse("topics", "give either `topic` or `topics`"),
        (Some(_), None) if has_keys => refuse("topic", "is the routing key: leave one of both out"),
        (None, Some(_)) if has_keys => refuse("topics", "are routing keys: leave one of both out"),
        (Some(topic), None) => {
            topics::topic("topic", &topic)?;
            group.routing_key = Some(routing_key(&topic));
            Ok(())
        }
        (None, Some(all)) => {
            all.iter().try_for_each(|topic| topics::topic("topics", topic))?;
            group.routing_keys = Some(all.iter().map(|topic| routing_key(topic)).collect());
            Ok(())
        }
        (None, None) => routed(group),
    }
}

/// Checks routing keys that take the place of topics.
fn routed(group: &PublisherGroup) -> Result<(), Problem> {
    if let Some(key) = &group.routing_key {
        topics::topic("routing-key", key)?;
    }
    let keys = group.routing_keys.iter().flatten();
    for key in keys {
        topics::topic("routing-keys", key)?;
    }
    let is_missing = group.routing_key.is_none()
        && group.routing_keys.is_none()
        && group.random_routing_keys.is_none();
    if is_missing {
        return refuse("topic", "is missing: the topic of the messages, such as `\"sensors/1\"`");
    }
    Ok(())
}

fn routing_key(topic: &str) -> String {
    topic.replace('/', ".")
}

/// Checks a group without confirms.
fn unconfirmed(group: &PublisherGroup) -> Result<(), Problem> {
    let reason = "needs `qos = 1`: the broker confirms no message with `qos = 0`";
    let excluded = [
        ("confirms", group.confirms == Some(true)),
        ("confirm-window", group.confirm_window.is_some()),
        ("confirm-timeout", group.confirm_timeout.is_some()),
        ("republish-unconfirmed", group.republish_unconfirmed == Some(true)),
    ];
    match excluded.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => refuse(key, reason),
        None => Ok(()),
    }
}
