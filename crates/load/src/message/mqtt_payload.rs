//! The payload of publishers of MQTT.

use std::sync::Arc;

use rabbitscope_mqtt::{Connection, Content, Template};

use super::{
    messages::Messages,
    payload::{ComposedPayload, EncodedBodies, Payload, RouteRotation},
};

impl Messages<'_> {
    /// Returns the bytes of the largest packet with a message of MQTT.
    pub(crate) fn largest_of_mqtt(&self) -> usize {
        let body = self.largest_body();
        self.topics.iter().map(|topic| topic.packet_size(body)).max().unwrap_or(0)
    }

    /// Returns the payload of a publisher of MQTT.
    pub(crate) fn mqtt_payload(&self, member: u32) -> Payload<Connection> {
        let mine = self.mine(member);
        if let ([only], None) = (&mine[..], &self.group.sizes)
            && let Some(topic) = self.topics.get(*only as usize)
        {
            let size = self.group.size_bytes() as usize;
            return Payload::Plain(Template::new(topic.clone(), size));
        }
        let contents = self
            .steps
            .iter()
            .map(|(end, bodies)| (*end, bodies.iter().map(|body| Content::new(body)).collect()));
        Payload::Composed(Box::new(ComposedPayload {
            routes: RouteRotation { routes: Arc::clone(&self.topics), mine, next: 0 },
            contents: Arc::new(EncodedBodies::new(contents.collect())),
            next_content: 0,
            wire_size: self.largest_of_mqtt(),
        }))
    }
}
