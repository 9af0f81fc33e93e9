//! Messages, encoded before they are sent.

use rabbitscope_protocol::{Encoded, OutputBuffer, Room, TemplateId, fill_with_copies};

use crate::{
    message_properties::put_digits,
    topic::{Naming, Topic},
};

/// A body with a head that can differ each time that it is sent: its first bytes, or a property of its topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    body: Vec<u8>,
    /// Bytes of the head in the property of the topic; absent if it is in the body.
    blank: Option<usize>,
}

impl Content {
    /// Keeps a body.
    pub fn new(body: &[u8]) -> Self {
        Self { body: body.to_vec(), blank: None }
    }

    /// Keeps a body that is sent as it is. Its head has this number of bytes, which
    /// [`Properties::blank`](crate::Properties::blank) gets.
    pub fn unchanged(body: &[u8], blank: usize) -> Self {
        Self { body: body.to_vec(), blank: Some(blank) }
    }

    /// Appends a packet with this identifier and `head` in its place, if it is not longer than that.
    #[inline]
    pub(crate) fn append(
        &self,
        out: &mut Vec<u8>,
        (topic, naming): (&Topic, Naming),
        identifier: impl FnOnce() -> u16,
        head: &[u8],
    ) {
        let at = topic.write(out, naming, self.body.len());
        if topic.is_numbered() {
            out[at..at + 2].copy_from_slice(&identifier().to_be_bytes());
        }
        let body_at = out.len();
        out.extend_from_slice(&self.body);
        if self.blank.is_some() {
            put_digits(&mut out[body_at - topic.blank..body_at], head);
        } else if let Some(place) = out[body_at..].get_mut(..head.len()) {
            place.copy_from_slice(head);
        }
    }
}

impl Encoded for Content {
    fn body_size(&self) -> usize {
        self.body.len()
    }

    fn head_room(&self) -> usize {
        self.blank.unwrap_or(self.body.len())
    }

    /// Returns the bytes of the body. The topic is part of the packet, but not of the content.
    fn wire_size(&self) -> usize {
        self.body.len()
    }
}

/// Messages of one topic that differ only in their bodies' first bytes.
#[derive(Clone, Debug)]
pub struct Template {
    pub(crate) topic: Topic,
    body_size: usize,
    /// A packet with the name of the topic.
    named: Packet,
    /// A packet with the alias of the topic.
    aliased: Option<Packet>,
}

/// An encoded packet.
#[derive(Clone, Debug)]
struct Packet {
    id: TemplateId,
    bytes: Vec<u8>,
    identifier_at: usize,
}

impl Packet {
    fn new(topic: &Topic, naming: Naming, body_size: usize) -> Self {
        let mut bytes = Vec::new();
        let identifier_at = topic.write(&mut bytes, naming, body_size);
        bytes.resize(bytes.len() + body_size, 0);
        Self { id: TemplateId::new(), bytes, identifier_at }
    }
}

impl Template {
    /// Encodes a message of `body_size` zero bytes.
    pub fn new(topic: Topic, body_size: usize) -> Self {
        let packet = |naming| Packet::new(&topic, naming, body_size);
        let named = packet(Naming::Name);
        let aliased = (topic.alias > 0).then(|| packet(Naming::Alias));
        Self { topic, body_size, named, aliased }
    }

    /// Appends `count` packets that name the topic in this way. Returns the body of each for the caller to fill: zeros but for
    /// the bytes that the caller has changed in earlier messages.
    #[inline]
    pub(crate) fn append<'a, I: FnMut() -> u16>(
        &self,
        output: &'a mut OutputBuffer,
        count: usize,
        naming: Naming,
        mut identifier: I,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a, I> {
        let mut rest = count;
        let mut first = 0;
        if naming == Naming::Both && count > 0 {
            let out = output.end();
            let start = out.len();
            let at = self.topic.write(out, naming, self.body_size);
            if self.topic.is_numbered() {
                out[at..at + 2].copy_from_slice(&identifier().to_be_bytes());
            }
            out.resize(out.len() + self.body_size, 0);
            rest -= 1;
            first = out.len() - start;
        }
        let packet =
            self.aliased.as_ref().filter(|_| naming != Naming::Name).unwrap_or(&self.named);
        let Room { out, start } = output.end_for(packet.id, rest * packet.bytes.len());
        let packets = fill_with_copies(out, start, &packet.bytes, rest);
        if self.topic.is_numbered() {
            let at = packet.identifier_at;
            for bytes in packets {
                bytes[at..at + 2].copy_from_slice(&identifier().to_be_bytes());
            }
        }
        let (size, body_size) = (packet.bytes.len(), self.body_size);
        let (first, rest) = out[start - first..].split_at_mut(first);
        // The first part is one packet or empty.
        let first = first.chunks_mut(first.len().max(1));
        let all = first.chain(rest.chunks_exact_mut(size));
        all.map(move |bytes| bytes.split_at_mut(bytes.len() - body_size).1)
    }
}

impl Encoded for Template {
    fn body_size(&self) -> usize {
        self.body_size
    }

    fn head_room(&self) -> usize {
        self.body_size
    }

    fn wire_size(&self) -> usize {
        self.aliased.as_ref().unwrap_or(&self.named).bytes.len()
    }
}
