//! The payload of one publisher. It is a fixed frame template, or routing keys and bodies in rotation, or bodies that
//! are packed for each message.

use std::sync::Arc;

use rabbitscope_amqp::{Content, PublishTemplate, Route};
use rabbitscope_timing::{Nanos, RunInstant};

use crate::packing::Packer;

/// The end of a step within a cycle, and the bodies of that step.
pub(super) type Step<Body> = (Nanos, Vec<Body>);

/// Encoded bodies with their properties.
#[derive(Debug)]
pub(super) struct EncodedBodies {
    pub(super) steps: Vec<Step<Content>>,
    /// Bytes of the largest body.
    pub(super) largest: usize,
}

impl EncodedBodies {
    /// Returns the bodies at this time.
    pub(super) fn at(&self, now: RunInstant) -> &[Content] {
        bodies_at(&self.steps, now)
    }
}

/// Returns the bodies at this time.
fn bodies_at<Body>(steps: &[Step<Body>], now: RunInstant) -> &[Body] {
    let shortest = Nanos::new(1);
    let cycle = steps.last().map_or(shortest, |(end, _)| *end).max(shortest);
    let within = now.since(RunInstant::START) % cycle;
    let step = steps.iter().find(|(end, _)| within < *end).or(steps.last());
    step.map_or(&[], |(_, bodies)| bodies)
}

/// The payload of one publisher.
#[derive(Debug)]
pub(crate) enum Payload {
    /// All messages are the same.
    Plain(PublishTemplate),
    /// Routing key and body rotate.
    Composed(Box<ComposedPayload>),
    /// Routing keys rotate; bodies are packed for each message.
    Packed(Box<PackedPayload>),
}

/// The routes of a publisher, in rotation.
#[derive(Debug)]
pub(super) struct RouteRotation {
    pub(super) routes: Arc<[Route]>,
    /// Indices of this publisher's routes.
    pub(super) mine: Vec<u32>,
    pub(super) next: usize,
}

/// Routing keys and bodies in rotation.
#[derive(Debug)]
pub(crate) struct ComposedPayload {
    pub(super) routes: RouteRotation,
    pub(super) contents: Arc<EncodedBodies>,
    pub(super) next_content: usize,
    pub(super) wire_size: usize,
}

/// Routing keys in rotation, and items that are packed for each message.
#[derive(Debug)]
pub(crate) struct PackedPayload {
    pub(super) routes: RouteRotation,
    /// The properties, with space for the stamp.
    pub(super) head: Content,
    pub(super) items: Arc<[Step<Vec<u8>>]>,
    pub(super) next_item: usize,
    pub(super) packer: Packer,
    /// Approximate size, because bodies differ.
    pub(super) wire_size: usize,
}

/// A message of a [`PackedPayload`].
pub(crate) struct PackedMessage<'a> {
    pub(crate) route: &'a Route,
    pub(crate) head: &'a Content,
    pub(crate) body: &'a [u8],
    /// Bytes of the items.
    pub(crate) item_bytes: u64,
}

/// A cursor in the rotation at one time.
pub(crate) struct PayloadCursor<'a> {
    routes: &'a mut RouteRotation,
    contents: &'a [Content],
    next_content: &'a mut usize,
}

impl Payload {
    /// Bytes of a message on the wire; the maximum if they differ.
    pub(crate) fn wire_size(&self) -> usize {
        match self {
            Self::Plain(template) => template.wire_size(),
            Self::Composed(composed) => composed.wire_size,
            Self::Packed(packed) => packed.wire_size,
        }
    }

    /// Number of items in each message.
    pub(crate) fn items(&self) -> u64 {
        match self {
            Self::Plain(_) | Self::Composed(_) => 1,
            Self::Packed(packed) => packed.packer.items() as u64,
        }
    }
}

impl RouteRotation {
    #[inline]
    fn next(&mut self) -> &Route {
        let at = advance(&mut self.next, self.mine.len());
        &self.routes[self.mine[at] as usize]
    }
}

impl ComposedPayload {
    /// Returns the cursor at this time.
    pub(crate) fn cursor(&mut self, now: RunInstant) -> PayloadCursor<'_> {
        PayloadCursor {
            routes: &mut self.routes,
            contents: self.contents.at(now),
            next_content: &mut self.next_content,
        }
    }
}

impl PackedPayload {
    /// Returns the next message at this time.
    pub(crate) fn next(&mut self, now: RunInstant) -> PackedMessage<'_> {
        let items = bodies_at(&self.items, now);
        let (body, item_bytes) = self.packer.pack(items, &mut self.next_item);
        PackedMessage { route: self.routes.next(), head: &self.head, body, item_bytes }
    }
}

impl PayloadCursor<'_> {
    /// Returns route and content of the next message.
    #[inline]
    pub(crate) fn next(&mut self) -> (&Route, &Content) {
        let content = advance(self.next_content, self.contents.len());
        (self.routes.next(), &self.contents[content])
    }
}

/// Returns the index `next` and advances it to the next one of `count`.
#[inline]
fn advance(next: &mut usize, count: usize) -> usize {
    let at = if *next < count { *next } else { 0 };
    *next = at + 1;
    at
}
