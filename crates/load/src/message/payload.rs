//! What one publisher sends: a fixed frame template, or routing keys and bodies in rotation.

use std::sync::Arc;

use rabbitscope_amqp::{Content, PublishTemplate, Route};

use crate::clock::{Nanos, RunInstant};

/// The bodies of one step of a cycle, and when the step ends within the cycle.
pub(super) type Step<Body> = (Nanos, Vec<Body>);

/// Bodies with their properties, ready for the wire.
#[derive(Debug)]
pub(super) struct EncodedBodies {
    pub(super) steps: Vec<Step<Content>>,
    /// Bytes of the largest body.
    pub(super) largest: usize,
}

impl EncodedBodies {
    /// The bodies of this time.
    pub(super) fn at(&self, now: RunInstant) -> &[Content] {
        let shortest = Nanos::new(1);
        let cycle = self.steps.last().map_or(shortest, |(end, _)| *end).max(shortest);
        let within = now.since(RunInstant::START) % cycle;
        let step = self.steps.iter().find(|(end, _)| within < *end).or(self.steps.last());
        step.map_or(&[], |(_, contents)| contents)
    }
}

/// What one publisher sends.
#[derive(Debug)]
pub(crate) enum Payload {
    /// All messages are the same.
    Plain(PublishTemplate),
    /// Routing key and body rotate.
    Composed(Box<ComposedPayload>),
}

/// Routing keys and bodies in rotation.
#[derive(Debug)]
pub(crate) struct ComposedPayload {
    pub(super) routes: Arc<[Route]>,
    /// Numbers of the routes of this publisher.
    pub(super) mine: Vec<u32>,
    pub(super) next_route: usize,
    pub(super) contents: Arc<EncodedBodies>,
    pub(super) next_content: usize,
    pub(super) wire_size: usize,
}

/// The rotation at one time.
pub(crate) struct PayloadCursor<'a> {
    routes: &'a [Route],
    mine: &'a [u32],
    next_route: &'a mut usize,
    contents: &'a [Content],
    next_content: &'a mut usize,
}

impl Payload {
    /// Bytes of a message on the wire; the maximum when they differ.
    pub(crate) fn wire_size(&self) -> usize {
        match self {
            Self::Plain(template) => template.wire_size(),
            Self::Composed(composed) => composed.wire_size,
        }
    }
}

impl ComposedPayload {
    /// The rotation at this time.
    pub(crate) fn cursor(&mut self, now: RunInstant) -> PayloadCursor<'_> {
        PayloadCursor {
            routes: &self.routes,
            mine: &self.mine,
            next_route: &mut self.next_route,
            contents: self.contents.at(now),
            next_content: &mut self.next_content,
        }
    }
}

impl<'a> PayloadCursor<'a> {
    /// Route and content of the next message.
    #[inline]
    pub(crate) fn next(&mut self) -> (&'a Route, &'a Content) {
        let route = advance(self.next_route, self.mine.len());
        let content = advance(self.next_content, self.contents.len());
        (&self.routes[self.mine[route] as usize], &self.contents[content])
    }
}

/// The index `next`; it advances to the next of `count`.
#[inline]
fn advance(next: &mut usize, count: usize) -> usize {
    let at = if *next < count { *next } else { 0 };
    *next = at + 1;
    at
}
