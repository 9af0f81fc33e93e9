//! Readers of the stream protocol.
//!
//! The broker sends whole chunks. A chunk's credit returns when all its messages are processed, so that a slow reader
//! holds the broker back. After a lost connection each subscription resumes behind the last message that was processed.

use rabbitscope_measurements::Failure;
use rabbitscope_runs::scenario::{ConsumerGroup, STAMP_HEADER};
use rabbitscope_streams::{Code, Connection, Event, Message, Offset, Packed};
use rabbitscope_timing::Stamp;

use super::{
    credit::Credit,
    packed::{next, unpack},
    receives::{Progress, Receives},
    role::{Arrival, Receiving},
    stream_offset::stream_offset,
};
use crate::{
    link::{role::EventHandler, serve_context::ServeContext, socket::Socket},
    message::number,
    packing::Items,
};

/// The progress of a subscription.
#[derive(Debug)]
pub(in crate::link) struct StreamProgress {
    /// Chunks that the broker may send ahead.
    ahead: u16,
    /// The place from which messages are taken. It advances with each one that is received.
    offset: Offset,
    /// The place at which the subscription resumes. It advances with each message that is processed.
    resume: Offset,
    credit: Credit,
}

impl Progress<Connection> for StreamProgress {
    fn new(group: &ConsumerGroup) -> Self {
        let offset = stream_offset(group);
        let ahead = group.credit.unwrap_or(1);
        Self { ahead, offset, resume: offset, credit: Credit::default() }
    }

    #[inline]
    fn on_arrival(&mut self, offset: u64) -> bool {
        if self.offset.is_behind(offset) {
            return false;
        }
        self.offset = Offset::At(offset.wrapping_add(1));
        self.credit.received();
        true
    }

    #[inline]
    fn on_settled(
        &mut self,
        subscription: usize,
        last: u64,
        count: u32,
        connection: &mut Connection,
    ) {
        self.resume = Offset::At(last.wrapping_add(1));
        for _ in 0..count {
            give(in_protocol(subscription), self.credit.processed(), connection);
        }
    }

    fn on_disconnect(&mut self) {
        (self.offset, self.credit) = (self.resume, Credit::default());
    }
}

impl Receives for Connection {
    type Progress = StreamProgress;

    fn subscribe(
        &mut self,
        subscription: usize,
        _lane: u16,
        stream: &str,
        progress: &mut StreamProgress,
    ) {
        let number = in_protocol(subscription);
        Connection::subscribe(self, number, stream, progress.offset, progress.ahead, &[]);
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
                    let chunks = progress.credit.chunk_ended();
                    give(subscription, chunks, &mut socket.connection);
                }
            }
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

/// Lets the broker send as many chunks as are done.
#[inline]
fn give(subscription: u8, chunks: u16, connection: &mut Connection) {
    if chunks > 0 {
        connection.credit(subscription, chunks);
    }
}

/// Returns the number of a subscription in the protocol, which checks of the scenario keep in range.
#[inline]
fn in_protocol(subscription: usize) -> u8 {
    number(u16::try_from(subscription).unwrap_or(u16::MAX))
}
