//! Requests, messages and acknowledgements to the output.

use rabbitscope_protocol::Write as _;

use super::state::{Connection, Phase, PingBy};
#[cfg(doc)]
use crate::event::Event;
use crate::{
    codec::{Put as _, write_packet},
    protocol::{
        packets::{PINGREQ, PUBACK, SUBSCRIBE, UNSUBSCRIBE},
        version::Version,
    },
    publish::{Content, Template},
    topic::{Naming, QualityOfService, Topic},
};

impl Connection {
    /// Subscribes to topics that match one of the filters. Returns the number of the request, which
    /// [`Event::Answer`] has too.
    pub fn subscribe<F: AsRef<str>>(&mut self, filters: &[F], quality: QualityOfService) -> u16 {
        let filters: Vec<_> = filters.iter().map(|filter| filter.as_ref().to_owned()).collect();
        let request = self.request(SUBSCRIBE, &filters, Some(quality));
        self.filters.extend(filters);
        request
    }

    /// Ends all subscriptions. Returns the number of the request; `None` if there is no subscription.
    pub fn unsubscribe(&mut self) -> Option<u16> {
        let filters = std::mem::take(&mut self.filters);
        (!filters.is_empty()).then(|| self.request(UNSUBSCRIBE, &filters, None))
    }

    fn request(&mut self, first: u8, filters: &[String], quality: Option<QualityOfService>) -> u16 {
        let packet = self.identifiers.take_for_request();
        let version = self.version;
        write_packet(self.output.end(), first, |out| {
            out.put_u16(packet);
            if version == Version::V5 {
                // No properties.
                out.push(0);
            }
            for filter in filters {
                out.put_text(filter);
                out.extend(quality.map(QualityOfService::number));
            }
        });
        packet
    }

    /// Acknowledges a message.
    #[inline]
    pub fn acknowledge(&mut self, packet: u16) {
        let [high, low] = packet.to_be_bytes();
        self.output.end().extend_from_slice(&[PUBACK, 2, high, low]);
    }

    /// Asks the broker for a sign that it has read everything before. [`Event::Pong`] follows.
    #[inline]
    pub fn ping(&mut self) {
        self.pings.push_back(PingBy::Caller);
        self.output.end().extend_from_slice(&[PINGREQ, 0]);
    }

    /// Appends `count` messages. Returns the part of each body that may differ, for the caller to fill: zeros but for the bytes
    /// that the caller has changed in earlier messages.
    ///
    /// # Panics
    ///
    /// Panics if `count` messages with packet identifiers exceed [`Connection::room`].
    #[inline]
    pub fn publish(
        &mut self,
        template: &Template,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        let naming = if count > 0 { self.naming(&template.topic) } else { Naming::Name };
        let identifiers = &mut self.identifiers;
        template.append(&mut self.output, count, naming, || identifiers.take())
    }

    /// Appends a message that is encoded now, with `head` at the start of its body.
    ///
    /// # Panics
    ///
    /// Panics if the message has a packet identifier and there is no [`Connection::room`].
    #[inline]
    pub fn publish_content(&mut self, topic: &Topic, content: &Content, head: &[u8]) {
        let naming = self.naming(topic);
        let identifiers = &mut self.identifiers;
        content.append(self.output.end(), (topic, naming), || identifiers.take(), head);
    }

    /// Returns the way of naming the topic in the next packet, and notes that it is sent.
    #[inline]
    fn naming(&mut self, topic: &Topic) -> Naming {
        if topic.alias == 0 || topic.alias > self.topic_alias_maximum {
            return Naming::Name;
        }
        let index = usize::from(topic.alias);
        if self.aliases.len() <= index {
            self.aliases.resize(index + 1, false);
        }
        let is_known = std::mem::replace(&mut self.aliases[index], true);
        if is_known { Naming::Alias } else { Naming::Both }
    }

    /// Returns whether requests and messages may be sent.
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }
}
