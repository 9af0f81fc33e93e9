//! Messages of the stream protocol.

use std::{convert::Infallible, sync::Arc};

use rabbitscope_runs::scenario::{Algorithm, PublisherGroup, STAMP_HEADER};
use rabbitscope_streams::{Codec, Connection, Content, Template};
use rabbitscope_timing::{RunInstant, STAMP_SIZE};

use super::{
    encoder::{Encoder, Packed},
    messages::Messages,
    payload::{Choice, ComposedPayload, EncodedBodies, MemberRoutes, Payload},
};
use crate::packing::Compressor;

/// No value: items are packed with properties that messages of streams do not have.
impl Packed for Infallible {
    fn wire_size(&self) -> usize {
        match *self {}
    }

    fn items(&self) -> u64 {
        match *self {}
    }
}

impl Encoder for Connection {
    type Template = Template;
    /// The place of a stream among those of a publisher.
    type Route = u8;
    type Content = Content;
    type Packed = Infallible;

    #[inline]
    fn publish(&mut self, template: &Template, count: usize) -> impl Iterator<Item = &mut [u8]> {
        Connection::publish(self, template, count)
    }

    #[inline]
    fn publish_parts(&mut self, publisher: u16, stream: &u8, content: &Content, head: &[u8]) {
        self.publish_content(number(publisher), *stream, content, head);
    }

    fn publish_packed(
        &mut self,
        _publisher: u16,
        packed: &mut Infallible,
        _now: RunInstant,
        _head: &[u8],
    ) -> u64 {
        match *packed {}
    }
}

/// Returns the number of a publisher, which checks of the scenario keep in range.
#[inline]
pub(crate) fn number(lane: u16) -> u8 {
    u8::try_from(lane).unwrap_or(u8::MAX)
}

/// Returns the compression of a group's sub-entries; `None` without one.
pub(crate) fn sub_entry_codec(group: &PublisherGroup) -> Option<Codec> {
    let compression = group.packing().compression?;
    let number = match compression.algorithm {
        Algorithm::Gzip => 1,
        Algorithm::Lz4 => 3,
        Algorithm::Zstd => 4,
    };
    let mut compressor = Compressor::new(compression);
    let compress =
        Box::new(move |plain: &[u8], into: &mut Vec<u8>| compressor.compress(plain, into));
    Some(Codec { number, compress })
}

impl Messages<'_> {
    /// Returns the stream of `member`, or the partitions of its super stream.
    pub(crate) fn streams(&self, member: u32) -> Vec<String> {
        if self.has_partitions() {
            return self.partitions.clone();
        }
        let mine = self.mine(member);
        let key = mine.first().and_then(|key| self.names.get(*key as usize));
        vec![key.cloned().unwrap_or_default()]
    }

    /// Returns whether each member writes to the partitions of a super stream.
    pub(crate) fn has_partitions(&self) -> bool {
        !self.partitions.is_empty()
    }

    /// Returns the bytes of the largest frame with a message of a stream.
    pub(crate) fn largest_of_stream(&self) -> usize {
        let bodies = self.steps.iter().flat_map(|(_, bodies)| bodies);
        let largest = bodies.max_by_key(|body| body.len());
        let size = if self.group.sub_entry_size.is_some() {
            Content::sub_entry_frame_size
        } else {
            Content::frame_size
        };
        // The largest message has the largest value, before it and within it.
        let values = self.group.filter_values.iter();
        let value = values.max_by_key(|value| value.len());
        largest.map_or(0, |body| {
            let content = self.stream_content(body);
            size(&value.map_or(content.clone(), |value| content.with_filter(value)))
        })
    }

    fn stream_content(&self, body: &[u8]) -> Content {
        if self.group.has_stamp_headers() {
            Content::with_property(STAMP_HEADER, STAMP_SIZE, body)
        } else {
            Content::new(body)
        }
    }

    /// Returns the contents of a step. With filter values, message `n` has the value `n` modulo their number.
    fn stream_contents(&self, bodies: &[Vec<u8>]) -> Vec<Content> {
        let values = &self.group.filter_values;
        if values.is_empty() {
            return bodies.iter().map(|body| self.stream_content(body)).collect();
        }
        let all = values.len() * bodies.len().div_ceil(values.len());
        let bodies = bodies.iter().cycle().take(all).zip(values.iter().cycle());
        bodies.map(|(body, value)| self.stream_content(body).with_filter(value)).collect()
    }

    /// Returns the payload of a publisher of a stream, or of a super stream.
    pub(crate) fn stream_payload(&self, member: u32, lane: u16) -> Payload<Connection> {
        let publisher = number(lane);
        let group = self.group;
        let is_single = group.sub_entry_size.is_none() && !self.has_partitions();
        if group.has_one_body() && is_single {
            let template = Template::new(publisher, group.size_bytes() as usize);
            match &group.filter_values[..] {
                [] => return Payload::Plain(template),
                [value] => return Payload::Plain(template.with_filter(value)),
                _ => {}
            }
        }
        let contents = self.steps.iter().map(|(end, bodies)| (*end, self.stream_contents(bodies)));
        let contents = EncodedBodies::new(contents.collect());
        Payload::Composed(Box::new(ComposedPayload {
            routes: if self.has_partitions() {
                let mine = self.mine(member);
                MemberRoutes {
                    routes: Arc::clone(&self.places),
                    mine,
                    choice: self.keys_of(member),
                }
            } else {
                MemberRoutes { routes: [0].into(), mine: vec![0], choice: Choice::default() }
            },
            wire_size: contents.largest,
            contents: Arc::new(contents),
            choice: self.bodies_of(member),
        }))
    }
}
