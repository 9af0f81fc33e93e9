//! Messages of the stream protocol.

use std::convert::Infallible;

use rabbitscope_runs::scenario::{Algorithm, PublisherGroup};
use rabbitscope_streams::{Codec, Connection, Content, Template};
use rabbitscope_timing::RunInstant;

use super::encoder::{Encoder, Packed};
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
    /// A publisher has one stream.
    type Route = ();
    type Content = Content;
    type Packed = Infallible;

    #[inline]
    fn publish(&mut self, template: &Template, count: usize) -> impl Iterator<Item = &mut [u8]> {
        Connection::publish(self, template, count)
    }

    #[inline]
    fn publish_parts(&mut self, publisher: u16, (): &(), content: &Content, head: &[u8]) {
        self.publish_content(number(publisher), content, head);
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
