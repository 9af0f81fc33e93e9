//! The payload of publishers of MQTT.

use std::sync::Arc;

use rabbitscope_mqtt::{Connection, Content, Template, Topic};
use rabbitscope_timing::STAMP_SIZE;

use super::{
    messages::Messages,
    payload::{Choice, ComposedPayload, EncodedBodies, MemberRoutes, Payload},
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
        if let ([only], true) = (&mine[..], self.group.has_one_body())
            && let Some(topic) = self.topics.get(*only as usize)
        {
            let size = self.group.size_bytes() as usize;
            return Payload::Plain(Template::new(self.with_alias(topic, 1), size));
        }
        let content = |body: &Vec<u8>| {
            if self.group.has_stamp_headers() {
                Content::unchanged(body, STAMP_SIZE)
            } else {
                Content::new(body)
            }
        };
        let contents =
            self.steps.iter().map(|(end, bodies)| (*end, bodies.iter().map(content).collect()));
        Payload::Composed(Box::new(ComposedPayload {
            routes: self.topics_of(mine, self.keys_of(member)),
            contents: Arc::new(EncodedBodies::new(contents.collect())),
            choice: self.bodies_of(member),
            wire_size: self.largest_of_mqtt(),
        }))
    }

    /// Returns the topics of a member. Aliases are numbers of its own.
    fn topics_of(&self, mine: Vec<u32>, choice: Choice) -> MemberRoutes<Topic> {
        if !self.group.topic_alias {
            return MemberRoutes { routes: Arc::clone(&self.topics), mine, choice };
        }
        let topics = mine.iter().filter_map(|index| self.topics.get(*index as usize));
        let routes: Arc<[_]> =
            (1..).zip(topics).map(|(alias, topic)| self.with_alias(topic, alias)).collect();
        MemberRoutes { mine: (0..).take(routes.len()).collect(), routes, choice }
    }

    /// Returns a topic, with this alias if the group has aliases. The connection leaves out those that the broker does
    /// not take.
    fn with_alias(&self, topic: &Topic, alias: u32) -> Topic {
        let alias = u16::try_from(alias).ok().filter(|_| self.group.topic_alias);
        topic.clone().with_alias(alias.unwrap_or(0))
    }
}
