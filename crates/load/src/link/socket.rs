//! A non-blocking socket with its connection: reads all available data, writes once.

use std::io;

use mio::{Interest, Registry, Token, unix::SourceFd};
use rabbitscope_measurements::Failure;
use rabbitscope_protocol::Wire;
use rabbitscope_runs::scenario::WriteMode;
use rabbitscope_timing::RunInstant;
use rabbitscope_topology::{Received, Stream};

use super::{
    acceptance::{Acceptance, Barriers},
    frame_cut::FrameCut,
    serve_context::ServeContext,
};
use crate::connect::Prepared;

pub(crate) struct Socket<W> {
    stream: Stream,
    pub(super) connection: W,
    /// Bytes of an incomplete frame.
    leftover: Vec<u8>,
    /// True if the leftover arrived during the set-up of the connection, and has not been parsed.
    has_unseen: bool,
    readable: bool,
    writable: bool,
    /// Messages in the output. Each counts as published when the socket has taken it.
    unwritten: u64,
    /// Remaining bytes of these messages in the output.
    unwritten_bytes: usize,
    /// By channel number: acceptance of messages without confirms.
    acceptances: Vec<Acceptance>,
    stalled_since: Option<RunInstant>,
    blocked_since: Option<RunInstant>,
    /// Time from which the socket has had room.
    ready_since: RunInstant,
    /// Absent if a write may have several frames.
    frame_cut: Option<FrameCut>,
}

pub(super) enum ReadOutcome {
    /// Number of bytes to parse at the front of the buffer.
    Bytes(usize),
    Nothing,
    Eof,
}

impl<W: Wire<Error: Into<Failure>>> Socket<W> {
    pub(super) fn new(prepared: Prepared<W>) -> Self {
        let Prepared { stream, connection, leftover } = prepared;
        Self {
            stream,
            connection,
            has_unseen: !leftover.is_empty(),
            leftover,
            readable: true,
            writable: true,
            unwritten: 0,
            unwritten_bytes: 0,
            acceptances: Vec::new(),
            stalled_since: None,
            blocked_since: None,
            ready_since: RunInstant::START,
            frame_cut: None,
        }
    }

    /// Sets the way of all further writes. It begins with a whole frame.
    #[inline]
    pub(super) fn write_as(&mut self, write: WriteMode) {
        if write == WriteMode::PerFrame && self.connection.output().is_empty() {
            self.frame_cut.get_or_insert_default();
        }
    }

    /// Registers the socket with a poll.
    pub(crate) fn register(&self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut SourceFd(&self.stream.fd()), token, interest)
    }

    /// Removes the socket from the poll.
    pub(crate) fn deregister(&self, registry: &Registry) {
        // An error means that the socket was not registered, which is the goal.
        registry.deregister(&mut SourceFd(&self.stream.fd())).ok();
    }

    pub(super) fn frame_max(&self) -> u32 {
        self.connection.frame_max()
    }

    /// Notes a change that the poll reported.
    pub(crate) fn wake(&mut self, readable: bool, writable: bool) {
        self.readable |= readable;
        self.writable |= writable;
    }

    pub(super) fn is_readable(&self) -> bool {
        self.readable
    }

    /// Returns whether messages may be encoded: the last ones are written, and no alarm holds.
    pub(super) fn can_publish(&self) -> bool {
        self.writable && self.unwritten == 0 && self.blocked_since.is_none()
    }

    /// Returns the time from which there has been room for messages.
    pub(super) fn ready_since(&self) -> RunInstant {
        self.ready_since
    }

    /// Notes `count` messages that were appended to the output.
    pub(super) fn encoded(&mut self, count: u64) {
        self.unwritten += count;
        self.unwritten_bytes = self.connection.output().pending().len();
    }

    /// Returns the messages without confirms that are not known to be accepted by the broker.
    pub(super) fn unaccepted(&self) -> u64 {
        self.acceptances.iter().map(Acceptance::unaccepted).sum()
    }

    /// Bytes that wait for the socket.
    pub(super) fn unwritten_bytes(&mut self) -> usize {
        self.connection.output().pending().len()
    }

    /// Puts the leftover of earlier reads and one new read into the front of `scratch`.
    pub(super) fn fill(
        &mut self,
        scratch: &mut [u8],
        context: &mut ServeContext<'_>,
    ) -> Result<ReadOutcome, Failure> {
        if !self.readable {
            return Ok(ReadOutcome::Nothing);
        }
        let kept = self.leftover.len();
        if std::mem::take(&mut self.has_unseen) {
            scratch[..kept].copy_from_slice(&self.leftover);
            self.leftover.clear();
            return Ok(ReadOutcome::Bytes(kept));
        }
        let received =
            self.stream.receive(&mut scratch[kept..]).map_err(|error| Failure::socket(&error))?;
        let Received { bytes, is_drained, wire_bytes, calls } = received;
        // A drained socket is read again when the poll reports new data.
        self.readable = !is_drained;
        let Some(count) = bytes else { return Ok(ReadOutcome::Nothing) };
        if count == 0 {
            self.readable = false;
            return Ok(ReadOutcome::Eof);
        }
        scratch[..kept].copy_from_slice(&self.leftover);
        self.leftover.clear();
        context.now = context.run.clock.now();
        context.measured.counts.reads += calls;
        context.measured.counts.bytes_read += wire_bytes;
        self.connection.has_read(context.run.clock.instant(context.now));
        Ok(ReadOutcome::Bytes(kept + count))
    }

    /// Keeps an incomplete frame for the next read.
    #[inline]
    pub(super) fn keep(&mut self, rest: &[u8]) {
        self.leftover.extend_from_slice(rest);
    }

    /// Writes as many bytes as the socket accepts.
    #[inline]
    pub(super) fn flush(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        let output = self.connection.output();
        let has_nothing = output.is_empty() && !self.stream.has_backlog();
        if has_nothing || !self.writable {
            return Ok(());
        }
        while self.writable {
            let pending = output.pending();
            let part = self.frame_cut.as_mut().map_or(pending, |cut| cut.next(pending));
            let sent = self.stream.send(part).map_err(|error| Failure::socket(&error))?;
            self.writable = !sent.is_full;
            output.advance(sent.taken);
            if let Some(cut) = &mut self.frame_cut {
                cut.advance(sent.taken);
            }
            context.measured.counts.writes += sent.calls;
            context.measured.counts.bytes_written += sent.wire_bytes;
            if output.is_empty() && !self.stream.has_backlog() {
                break;
            }
        }
        let is_empty = output.is_empty() && !self.stream.has_backlog();
        self.connection.has_written(context.run.clock.instant(context.now));
        self.account(is_empty, context);
        Ok(())
    }

    fn account(&mut self, is_empty: bool, context: &mut ServeContext<'_>) {
        if is_empty {
            self.count_written(context);
            if let Some(since) = self.stalled_since.take() {
                context.now = context.run.clock.now();
                context.measured.counts.socket_stall_nanos += context.now.since(since).get();
                self.ready_since = context.now;
            }
        } else if self.unwritten > 0 {
            self.count_partly_written(context);
            self.stalled_since.get_or_insert(context.now);
        }
    }

    /// Counts all encoded messages as published: they are written, or the written part is unknown.
    fn count_written(&mut self, context: &mut ServeContext<'_>) {
        context.measured.counts.published += std::mem::take(&mut self.unwritten);
        self.unwritten_bytes = 0;
    }

    /// Counts messages in proportion to the bytes that the socket took, except one that it may have begun.
    fn count_partly_written(&mut self, context: &mut ServeContext<'_>) {
        let left = self.connection.output().pending().len();
        let taken = self.unwritten_bytes.saturating_sub(left) as u128;
        let written = u128::from(self.unwritten) * taken / self.unwritten_bytes.max(1) as u128;
        let written = u64::try_from(written).unwrap_or(0).min(self.unwritten - 1);
        context.measured.counts.published += written;
        self.unwritten -= written;
        self.unwritten_bytes = left;
    }

    /// Returns whether messages wait for a full socket.
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled_since.is_some()
    }

    /// Returns whether the connection was closed, not lost.
    pub(super) fn is_closed(&self) -> bool {
        self.connection.is_closed()
    }

    /// Returns whether the broker takes no messages because of an alarm.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked_since.is_some()
    }

    pub(super) fn block(&mut self, reason: &str, context: &mut ServeContext<'_>) {
        if self.blocked_since.is_none() {
            self.blocked_since = Some(context.now);
            context.service.blocked(context.now, reason);
        }
    }

    pub(super) fn unblock(&mut self, context: &mut ServeContext<'_>) {
        if let Some(since) = self.blocked_since.take() {
            context.measured.counts.blocked_nanos += context.now.since(since).get();
            self.ready_since = context.now;
            context.service.unblocked(context.now);
        }
    }

    /// Continues on a new connection.
    pub(super) fn on_reconnect(&mut self, prepared: Prepared<W>, now: RunInstant) {
        *self = Self { ready_since: now, ..Self::new(prepared) };
    }

    /// Handles the loss of the connection, and ends reading and writing. An incomplete write counts as complete,
    /// because the part that the broker received is unknown.
    pub(super) fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        self.count_written(context);
        self.acceptances.clear();
        if let Some(since) = self.stalled_since.take() {
            context.measured.counts.socket_stall_nanos += context.now.since(since).get();
        }
        self.unblock(context);
        (self.readable, self.writable) = (false, false);
        self.leftover = Vec::new();
        self.stream.shut_down();
    }

    /// Ends writing: a message that was begun is not complete.
    pub(super) fn give_up(&mut self, context: &mut ServeContext<'_>) {
        if self.unwritten > 0 {
            self.count_partly_written(context);
        }
    }

    /// Counts lasting stalls and blocks up to now, so that each second has its share. Sends due heartbeats, and checks
    /// the broker's.
    pub(crate) fn tick(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        let now = context.now;
        if let Some(since) = &mut self.stalled_since {
            context.measured.counts.socket_stall_nanos += now.since(*since).get();
            *since = now;
        }
        if let Some(since) = &mut self.blocked_since {
            context.measured.counts.blocked_nanos += now.since(*since).get();
            *since = now;
        }
        self.connection.tick(context.run.clock.instant(now)).map_err(Into::into)?;
        self.flush(context)
    }
}

/// Messages without confirms, whose acceptance the broker tells when asked.
impl<W: Barriers> Socket<W> {
    /// Notes `count` messages without confirms that were appended to the output. Returns true if a barrier follows
    /// them.
    #[inline]
    pub(super) fn sent(&mut self, channel: u16, count: u64, context: &ServeContext<'_>) -> bool {
        let at = usize::from(channel);
        if self.acceptances.len() <= at {
            self.acceptances.resize_with(at + 1, Acceptance::default);
        }
        let (acceptance, now) = (&mut self.acceptances[at], context.now);
        let is_due = acceptance.send(count, now, context.run.barrier_interval);
        if is_due {
            acceptance.ask(channel, now, &mut self.connection);
        }
        is_due
    }

    /// Puts a barrier behind all messages that have none. Returns their channels.
    pub(super) fn ask(&mut self, now: RunInstant) -> Vec<u16> {
        let mut asked = Vec::new();
        for (channel, acceptance) in (0..).zip(&mut self.acceptances) {
            if acceptance.is_open() {
                acceptance.ask(channel, now, &mut self.connection);
                asked.push(channel);
            }
        }
        asked
    }

    /// Notes the answer to a barrier of the channel. Returns false if there was no barrier.
    pub(super) fn accepted(&mut self, channel: u16, context: &mut ServeContext<'_>) -> bool {
        let acceptance = self.acceptances.get_mut(usize::from(channel));
        let count = acceptance.and_then(Acceptance::answered);
        context.measured.counts.accept(count.unwrap_or(0));
        count.is_some()
    }
}
