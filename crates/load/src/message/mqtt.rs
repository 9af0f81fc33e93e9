//! Messages of MQTT.

use std::{convert::Infallible, time::Duration};

use rabbitscope_mqtt::{
    Blank, Connection, Content, Properties, QualityOfService, Template, Topic, Version,
};
use rabbitscope_runs::scenario::{FieldValue, MqttVersion, PublisherGroup, STAMP_HEADER};
use rabbitscope_timing::{RunInstant, STAMP_SIZE};

use super::encoder::Encoder;

impl Encoder for Connection {
    type Template = Template;
    type Route = Topic;
    type Content = Content;
    type Packed = Infallible;

    #[inline]
    fn publish(&mut self, template: &Template, count: usize) -> impl Iterator<Item = &mut [u8]> {
        Connection::publish(self, template, count)
    }

    #[inline]
    fn publish_parts(&mut self, _lane: u16, topic: &Topic, content: &Content, head: &[u8]) {
        self.publish_content(topic, content, head);
    }

    fn publish_packed(
        &mut self,
        _lane: u16,
        packed: &mut Infallible,
        _now: RunInstant,
        _head: &[u8],
    ) -> u64 {
        match *packed {}
    }
}

/// Returns the version that a scenario names.
pub(crate) fn version(named: Option<MqttVersion>) -> Version {
    match named.unwrap_or_default() {
        MqttVersion::V3 => Version::V3,
        MqttVersion::V5 => Version::V5,
    }
}

/// Returns the quality of service that a scenario names.
pub(crate) fn quality(qos: Option<u8>) -> QualityOfService {
    if qos == Some(0) { QualityOfService::AtMostOnce } else { QualityOfService::AtLeastOnce }
}

/// Encodes the topic that the broker turns into this routing key.
pub(super) fn topic(group: &PublisherGroup, routing_key: &str) -> Topic {
    let name = routing_key.replace('.', "/");
    let topic = Topic::new(&name, quality(group.qos), version(group.mqtt_version));
    topic.with_properties(&properties(group))
}

/// Returns the properties of a group's messages.
fn properties(group: &PublisherGroup) -> Properties {
    let properties = &group.properties;
    let seconds = |time: Duration| u32::try_from(time.as_secs()).unwrap_or(u32::MAX);
    let text = |(name, value): (&String, &FieldValue)| match value {
        FieldValue::Text(text) => Some((name.clone(), text.clone())),
        // Checks refuse others.
        _ => None,
    };
    let stamp = Blank { name: STAMP_HEADER.to_owned(), size: STAMP_SIZE };
    Properties {
        message_expiry_interval: properties.expiration.map(seconds),
        content_type: properties.content_type.clone(),
        response_topic: properties.reply_to.clone(),
        correlation_data: properties.correlation_id.clone(),
        user_properties: properties.headers.iter().filter_map(text).collect(),
        blank: group.has_stamp_headers().then_some(stamp),
    }
}
