//! PUBLISH: topic, identifier, properties, body.

use super::{
    super::{
        framer::{Next, Ranges, Trust},
        sink::{FrameSink, SensitiveKind},
    },
    grammar::{Grammar, LEVEL_5, identifier_of, length_of},
    recognition::is_topic,
    state::{KEPT_MAX, State},
};

/// Number of bytes of a topic that are read.
const TOPIC_MAX: u32 = 256;

impl Grammar {
    pub(super) fn topic_length(&mut self, rest: u32, bytes: &[u8]) -> Next {
        let length = length_of(bytes);
        let is_enough = |rest: &u32| *rest >= self.identifier_bytes();
        let Some(rest) = rest.checked_sub(length).filter(is_enough) else {
            return Next::Lost;
        };
        let read = length.min(TOPIC_MAX);
        self.read(State::Topic { skip: length - read, rest }, read as usize)
    }

    pub(super) fn topic(
        &mut self,
        skip: u32,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        if self.trust == Trust::Little && !is_topic(bytes) {
            return Next::Lost;
        }
        self.keep_topic(bytes);
        self.state = State::PublishIdentifier(rest);
        let then = self.identifier_bytes() as usize;
        if skip == 0 && then == 0 {
            return self.publish_identifier(rest, &[], ranges);
        }
        Next::Skip { bytes: u64::from(skip), then }
    }

    /// Keeps the topic, or its beginning, behind its length.
    fn keep_topic(&mut self, bytes: &[u8]) {
        let length = u16::try_from(bytes.len()).unwrap_or(u16::MAX);
        self.arguments.keep(&length.to_be_bytes());
        self.arguments.keep(bytes);
    }

    /// Returns the size of a PUBLISH's identifier. It has none at quality of service 0.
    const fn identifier_bytes(&self) -> u32 {
        if self.first & 0b0110 == 0 { 0 } else { 2 }
    }

    /// Reads a PUBLISH's identifier. While the level is unknown, properties of MQTT 5 are too, so they count as the body.
    pub(super) fn publish_identifier(
        &mut self,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.identifier = identifier_of(bytes);
        let body = rest - self.identifier_bytes();
        self.body_bytes = body;
        if self.level == Some(LEVEL_5) && body > 0 {
            return self.property_length(body);
        }
        ranges.next(u64::from(body), SensitiveKind::Body);
        self.skip(body)
    }

    /// Keeps a PUBLISH's properties: `length` of the next `rest` bytes, which are the last ones of the packet.
    pub(super) fn properties_of_publish(
        &mut self,
        length: u32,
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.body_bytes = rest - length;
        ranges.next(u64::from(rest), SensitiveKind::Body);
        let read = length.min(KEPT_MAX);
        if !self.arguments.is_on() || read == 0 {
            return self.skip(rest);
        }
        self.read(State::Properties { skip: length - read, rest: rest - length }, read as usize)
    }
}
