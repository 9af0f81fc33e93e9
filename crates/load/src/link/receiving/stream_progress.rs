//! The progress of a subscription to a stream: its credit, its place, its filter, and its name.

use rabbitscope_runs::scenario::ConsumerGroup;
use rabbitscope_streams::{Code, Connection, Offset};

use super::{
    credit::Credit, receives::Progress, stream_filter::StreamFilter, stream_offset::stream_offset,
    stream_tracking::StreamTracking,
};
use crate::message::number;

/// The progress of a subscription.
#[derive(Debug)]
pub(in crate::link) struct StreamProgress {
    /// The stream, from the first subscription on.
    stream: String,
    /// Chunks that the broker may send ahead.
    ahead: u16,
    /// The place at which the group begins.
    start: Offset,
    /// The place from which messages are taken. It advances with each one that is received.
    offset: Offset,
    /// The place at which the subscription resumes. It advances with each message that is processed.
    resume: Offset,
    credit: Credit,
    pub(super) filter: Option<StreamFilter>,
    pub(super) tracking: Option<StreamTracking>,
}

impl Progress<Connection> for StreamProgress {
    fn new(group: &ConsumerGroup) -> Self {
        let start = stream_offset(group);
        Self {
            stream: String::new(),
            ahead: group.credit.unwrap_or(1),
            start,
            offset: start,
            resume: start,
            credit: Credit::default(),
            filter: StreamFilter::from_group(group),
            tracking: StreamTracking::from_group(group),
        }
    }

    #[inline]
    fn on_arrival(&mut self, offset: u64) -> bool {
        if self.is_behind(offset) {
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
        if let Some(tracking) = &mut self.tracking {
            tracking.processed(last, count, &self.stream, connection);
        }
    }

    fn before_end(&mut self, connection: &mut Connection) {
        if let Some(tracking) = &mut self.tracking {
            tracking.store(&self.stream, connection);
        }
    }

    fn on_disconnect(&mut self) {
        (self.offset, self.credit) = (self.resume, Credit::default());
        if let Some(tracking) = &mut self.tracking {
            tracking.on_disconnect();
        }
    }
}

impl StreamProgress {
    /// Subscribes, or first asks for the stored offset. The broker asks a single active consumer for its place later.
    pub(super) fn begin(&mut self, subscription: u8, stream: &str, connection: &mut Connection) {
        stream.clone_into(&mut self.stream);
        let is_new = self.resume == self.start;
        match self.tracking.as_mut().filter(|tracking| !tracking.is_single() && is_new) {
            Some(tracking) => tracking.ask(None, stream, connection),
            None => self.subscribe(subscription, connection),
        }
    }

    fn subscribe(&self, subscription: u8, connection: &mut Connection) {
        let named = self.tracking.iter().flat_map(StreamTracking::properties);
        let filtered = self.filter.iter().flat_map(StreamFilter::properties);
        let properties: Vec<_> = named.chain(filtered).collect();
        let properties: Vec<_> =
            properties.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        connection.subscribe(subscription, &self.stream, self.offset, self.ahead, &properties);
    }

    /// Begins the turn of a single active consumer: asks where the one before it was.
    pub(super) fn activate(&mut self, update: u32, connection: &mut Connection) {
        match &mut self.tracking {
            Some(tracking) => tracking.ask(Some(update), &self.stream, connection),
            None => connection.answer_update(update, Some(self.offset)),
        }
    }

    /// Ends the turn of a single active consumer, whose messages that are not processed were given up.
    pub(super) fn pause(&mut self, subscription: u8, update: u32, connection: &mut Connection) {
        if let Some(tracking) = &mut self.tracking {
            tracking.store(&self.stream, connection);
        }
        self.offset = self.resume;
        give(subscription, self.credit.give_up(), connection);
        connection.answer_update(update, None);
    }

    /// Continues behind the stored offset, if there is one.
    pub(super) fn on_stored(
        &mut self,
        subscription: u8,
        (code, content): (Code, &[u8]),
        connection: &mut Connection,
    ) {
        let stored = if code == Code::OK { Offset::from_stored(content) } else { None };
        self.offset = stored.unwrap_or(self.start);
        self.resume = self.offset;
        match self.tracking.as_mut().and_then(StreamTracking::answered) {
            Some(update) => connection.answer_update(update, Some(self.offset)),
            None => self.subscribe(subscription, connection),
        }
    }

    /// Notes a message that is not wanted.
    pub(super) fn pass(&mut self, offset: u64) {
        self.offset = Offset::At(offset.wrapping_add(1));
    }

    /// Returns whether a message is before the place of the subscription. A chunk can begin before it.
    #[inline]
    pub(super) fn is_behind(&self, offset: u64) -> bool {
        self.offset.is_behind(offset)
    }

    /// Notes the end of a chunk.
    #[inline]
    pub(super) fn on_chunk_end(&mut self, subscription: u8, connection: &mut Connection) {
        give(subscription, self.credit.chunk_ended(), connection);
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
pub(super) fn in_protocol(subscription: usize) -> u8 {
    number(u16::try_from(subscription).unwrap_or(u16::MAX))
}
