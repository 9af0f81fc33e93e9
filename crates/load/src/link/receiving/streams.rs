//! Readers of the stream protocol.
//!
//! The broker sends whole chunks. A chunk's credit returns when all its messages are processed, so that a slow reader
//! holds the broker back. After a lost connection each subscription resumes behind the last message that was processed.

use rabbitscope_measurements::Failure;
use rabbitscope_runs::scenario::STAMP_HEADER;
use rabbitscope_streams::{Code, Connection, Event, Message, Packed};
use rabbitscope_timing::Stamp;

use super::{
    packed::{next, unpack},
    receives::Receives,
    role::{Arrival, Receiving},
    stream_progress::{StreamProgress, in_protocol},
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    packing::Items,
};

impl Receives for Connection {
    type Progress = StreamProgress;

    fn subscribe(
        &mut self,
        subscription: usize,
        _lane: u16,
        stream: &str,
        progress: &mut StreamProgress,
    ) {
        progress.begin(in_protocol(subscription), stream, self);
    }

    fn unsubscribe(&mut self, subscription: usize, _lane: u16) {
        Connection::unsubscribe(self, in_protocol(subscription));
    }
}

impl Receiving<Connection> {
    #[inline]
    fn on_message(
        &mut self,
        message: &Message<'_>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        if !self.is_wanted(message, context) {
            return;
        }
        let body = message.body();
        let property = if self.reads_headers { message.property(STAMP_HEADER) } else { None };
        let arrival = Arrival {
            subscription: message.subscription.into(),
            number: message.offset,
            redelivered: false,
            stamp: property.map_or_else(|| Stamp::decode(body), Stamp::from_property),
            items: Items::one(body),
        };
        self.on_arrival(arrival, connection, context);
    }

    /// Returns whether a reader wants a message, and counts it if not.
    #[inline]
    fn is_wanted(&mut self, message: &Message<'_>, context: &mut ServeContext<'_>) -> bool {
        let Some(progress) = self.progress(message.subscription.into()) else { return false };
        let Some(filter) = &progress.filter else { return true };
        if filter.wants(message.filter_value()) {
            return true;
        }
        if !progress.is_behind(message.offset) {
            progress.pass(message.offset);
            context.measured.counts.filtered_out += 1;
        }
        false
    }

    /// Begins or ends the turn of a single active consumer.
    fn on_update(
        &mut self,
        (update, subscription, is_active): (u32, u8, bool),
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        if is_active {
            self.take_over(subscription.into(), context);
        } else {
            self.hand_over(subscription.into());
        }
        let Some(progress) = self.progress(subscription.into()) else { return };
        if is_active {
            progress.activate(update, connection);
        } else {
            progress.pause(subscription, update, connection);
        }
    }

    /// Handles the answer to a question for a stored offset. Returns false if it answers another one.
    fn on_stored(
        &mut self,
        correlation: u32,
        answer: (Code, &[u8]),
        connection: &mut Connection,
    ) -> bool {
        let is_it = |progress: &StreamProgress| {
            progress.tracking.as_ref().is_some_and(|tracking| tracking.awaits(correlation))
        };
        let is_known = matches!(answer.0, Code::OK | Code::NO_OFFSET);
        let Some((subscription, progress)) = self.find(is_it).filter(|_| is_known) else {
            return false;
        };
        progress.on_stored(in_protocol(subscription), answer, connection);
        true
    }

    /// Takes messages that are compressed together.
    fn on_packed(
        &mut self,
        packed: &Packed<'_>,
        connection: &mut Connection,
        context: &mut ServeContext<'_>,
    ) {
        let mut plain = std::mem::take(&mut self.plain);
        if unpack(packed, &mut plain) {
            let mut rest = &plain[..];
            let offsets = packed.offset..packed.offset.saturating_add(packed.count.into());
            for offset in offsets {
                let Some(bytes) = next(&mut rest) else { break };
                let message = Message { subscription: packed.subscription, offset, bytes };
                self.on_message(&message, connection, context);
            }
        } else {
            context.measured.counts.unpacking_failures += 1;
        }
        self.plain = plain;
    }
}

impl EventHandler for Receiving<Connection> {
    #[inline]
    fn on_event(
        &mut self,
        event: Event<'_>,
        socket: &mut Socket<Connection>,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        match event {
            Event::Delivery(message) => {
                self.on_message(&message, &mut socket.connection, context);
            }
            Event::Packed(packed) => self.on_packed(&packed, &mut socket.connection, context),
            Event::ChunkEnd { subscription } => {
                if let Some(progress) = self.progress(subscription.into()) {
                    progress.on_chunk_end(subscription, &mut socket.connection);
                }
            }
            Event::Update { correlation, subscription, is_active } => {
                let update = (correlation, subscription, is_active);
                self.on_update(update, &mut socket.connection, context);
            }
            Event::Answer { correlation, code, content }
                if self.on_stored(correlation, (code, content), &mut socket.connection) => {}
            Event::Answer { code, .. } if code != Code::OK => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker refused to read a stream: {code}"
                )));
            }
            Event::StreamGone { stream, code } => {
                return Err(Failure::consumer_cancelled(format!(
                    "the broker ended a reader of stream `{stream}`: {code}"
                )));
            }
            _ => {}
        }
        Ok(())
    }
}
