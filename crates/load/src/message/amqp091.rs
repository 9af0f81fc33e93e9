//! Messages of AMQP 0-9-1.

use std::sync::Arc;

use rabbitscope_amqp::{Connection, Content, PublishTemplate, Route};
use rabbitscope_timing::RunInstant;

use super::{
    encoder::{Encoder, Packed},
    payload::{MemberRoutes, Step, bodies_at},
};
use crate::packing::Packer;

/// Routing keys, and items that are packed for each message.
#[derive(Debug)]
pub(crate) struct PackedPayload {
    pub(super) routes: MemberRoutes<Route>,
    /// The properties, with space for the stamp.
    pub(super) head: Content,
    pub(super) items: Arc<[Step<Vec<u8>>]>,
    pub(super) next_item: usize,
    pub(super) packer: Packer,
    /// Approximate size, because bodies differ.
    pub(super) wire_size: usize,
}

impl Packed for PackedPayload {
    fn wire_size(&self) -> usize {
        self.wire_size
    }

    fn items(&self) -> u64 {
        self.packer.items() as u64
    }
}

impl Encoder for Connection {
    type Template = PublishTemplate;
    type Route = Route;
    type Content = Content;
    type Packed = PackedPayload;

    #[inline]
    fn publish(
        &mut self,
        template: &PublishTemplate,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        Connection::publish(self, template, count)
    }

    #[inline]
    fn publish_parts(&mut self, channel: u16, route: &Route, content: &Content, head: &[u8]) {
        Connection::publish_parts(self, channel, route, content, head);
    }

    #[inline]
    fn publish_packed(
        &mut self,
        channel: u16,
        packed: &mut PackedPayload,
        now: RunInstant,
        head: &[u8],
    ) -> u64 {
        let items = bodies_at(&packed.items, now);
        let (body, item_bytes) = packed.packer.pack(items, &mut packed.next_item);
        self.publish_body(channel, packed.routes.next(), &packed.head, head, body);
        item_bytes
    }
}
