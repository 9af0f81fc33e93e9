//! Messages of MQTT.

use std::convert::Infallible;

use rabbitscope_mqtt::{Connection, Content, QualityOfService, Template, Topic, Version};
use rabbitscope_runs::scenario::{MqttVersion, PublisherGroup};
use rabbitscope_timing::RunInstant;

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
    Topic::new(&name, quality(group.qos), version(group.mqtt_version))
}
