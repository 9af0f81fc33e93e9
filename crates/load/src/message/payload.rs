//! The payload of one publisher. It is a fixed frame template, or routing keys and bodies that take turns or are drawn by
//! their shares, or bodies that are packed for each message.

use std::sync::Arc;

use rabbitscope_protocol::Encoded;
use rabbitscope_runs::Draws;
use rabbitscope_timing::{Nanos, RunInstant};

use super::encoder::{Encoder, Packed};

/// The end of a step within a cycle, and the bodies of that step.
pub(super) type Step<Body> = (Nanos, Vec<Body>);

/// Encoded bodies with their properties.
#[derive(Debug)]
pub(super) struct EncodedBodies<Content> {
    pub(super) steps: Vec<Step<Content>>,
    /// Bytes of the largest body.
    pub(super) largest: usize,
}

impl<Content: Encoded> EncodedBodies<Content> {
    pub(super) fn new(steps: Vec<Step<Content>>) -> Self {
        let contents = steps.iter().flat_map(|(_, contents)| contents);
        let largest = contents.map(Encoded::wire_size).max().unwrap_or(0);
        Self { steps, largest }
    }

    /// Returns the bodies at this time.
    pub(super) fn at(&self, now: RunInstant) -> &[Content] {
        bodies_at(&self.steps, now)
    }
}

/// Returns the bodies at this time.
pub(super) fn bodies_at<Body>(steps: &[Step<Body>], now: RunInstant) -> &[Body] {
    let shortest = Nanos::new(1);
    let cycle = steps.last().map_or(shortest, |(end, _)| *end).max(shortest);
    let within = now.since(RunInstant::START) % cycle;
    let step = steps.iter().find(|(end, _)| within < *end).or(steps.last());
    step.map_or(&[], |(_, bodies)| bodies)
}

/// The payload of one publisher.
#[derive(Debug)]
pub(crate) enum Payload<E: Encoder> {
    /// All messages are the same.
    Plain(E::Template),
    /// Routing key or body differs.
    Composed(Box<ComposedPayload<E>>),
    /// Bodies are packed for each message.
    Packed(Box<E::Packed>),
}

/// The choice of one of several things for each message: in turn, or by their shares.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Index of the next thing; with shares, number of the next message.
    next: usize,
    draws: Option<Draws>,
}

/// The routes of a publisher.
#[derive(Debug)]
pub(super) struct MemberRoutes<Route> {
    pub(super) routes: Arc<[Route]>,
    /// Indices of this publisher's routes.
    pub(super) mine: Vec<u32>,
    pub(super) choice: Choice,
}

/// Routing keys and bodies that differ.
#[derive(Debug)]
pub(crate) struct ComposedPayload<E: Encoder> {
    pub(super) routes: MemberRoutes<E::Route>,
    pub(super) contents: Arc<EncodedBodies<E::Content>>,
    pub(super) choice: Choice,
    pub(super) wire_size: usize,
}

/// A cursor in the messages at one time.
pub(crate) struct PayloadCursor<'a, E: Encoder> {
    routes: &'a mut MemberRoutes<E::Route>,
    contents: &'a [E::Content],
    choice: &'a mut Choice,
}

impl<E: Encoder> Payload<E> {
    /// Bytes of a message on the wire; the maximum if they differ.
    pub(crate) fn wire_size(&self) -> usize {
        match self {
            Self::Plain(template) => template.wire_size(),
            Self::Composed(composed) => composed.wire_size,
            Self::Packed(packed) => packed.wire_size(),
        }
    }

    /// Number of items in each message.
    pub(crate) fn items(&self) -> u64 {
        match self {
            Self::Plain(_) | Self::Composed(_) => 1,
            Self::Packed(packed) => packed.items(),
        }
    }
}

impl Choice {
    pub(super) fn new(draws: Option<Draws>) -> Self {
        Self { next: 0, draws }
    }

    /// Continues with the message of this number, among `count` things.
    #[inline]
    fn seek(&mut self, number: u64, count: usize) {
        let number = match self.draws {
            None => number.checked_rem(count as u64).unwrap_or(0),
            Some(_) => number,
        };
        self.next = usize::try_from(number).unwrap_or(0);
    }

    /// Returns the index of the next message's thing among `count`.
    #[inline]
    fn next(&mut self, count: usize) -> usize {
        match &self.draws {
            None => {
                let at = if self.next < count { self.next } else { 0 };
                self.next = at + 1;
                at
            }
            Some(draws) => {
                let at = draws.choice(self.next as u64);
                self.next += 1;
                at
            }
        }
    }
}

impl<Route> MemberRoutes<Route> {
    #[inline]
    pub(super) fn next(&mut self) -> &Route {
        let at = self.choice.next(self.mine.len());
        &self.routes[self.mine[at] as usize]
    }
}

impl<E: Encoder> ComposedPayload<E> {
    /// Returns the cursor at this time.
    pub(crate) fn cursor(&mut self, now: RunInstant) -> PayloadCursor<'_, E> {
        PayloadCursor {
            routes: &mut self.routes,
            contents: self.contents.at(now),
            choice: &mut self.choice,
        }
    }
}

impl<E: Encoder> PayloadCursor<'_, E> {
    /// Continues with the message of this sequence number. A message that is sent again has its old route and content.
    #[inline]
    pub(crate) fn seek(&mut self, number: u64) {
        self.routes.choice.seek(number, self.routes.mine.len());
        self.choice.seek(number, self.contents.len());
    }

    /// Returns route and content of the next message.
    #[inline]
    pub(crate) fn next(&mut self) -> (&E::Route, &E::Content) {
        let content = self.choice.next(self.contents.len());
        (self.routes.next(), &self.contents[content])
    }
}
