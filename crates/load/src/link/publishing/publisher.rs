//! One publisher: the messages that it may send, their times, and its progress.

use std::{collections::VecDeque, ops::Range};

use rabbitscope_protocol::ConfirmRing;
use rabbitscope_runs::scenario::LatePolicy;
use rabbitscope_timing::RunInstant;
use rabbitscope_verify::Observation;

use super::{
    batch::{MessageBatch, SentMessage, low_bits, whole},
    encoding::{Encoded, encode},
    sends::Sends,
};
use crate::{
    link::{serve_context::ServeContext, socket::Socket},
    message::Payload,
    pacing::{ArrivalSchedule, ClientDelay, LATE_TOLERANCE},
};

pub(in crate::link) struct Publisher<W: Sends> {
    /// The lane of its messages.
    pub(in crate::link) lane: u16,
    pub(in crate::link) payload: Payload<W>,
    /// Number among all publishers of the scenario.
    pub(in crate::link) number: u32,
    pub(in crate::link) window: Option<u32>,
    /// Messages of a transaction. The window has the same size.
    pub(in crate::link) tx_size: Option<u32>,
    pub(in crate::link) start: RunInstant,
    pub(in crate::link) limit: Option<u64>,
    pub(in crate::link) arrivals: Option<ArrivalSchedule>,
    pub(in crate::link) late: LatePolicy,
    /// True if messages without a confirm are sent again after their connection was lost.
    pub(in crate::link) republishes: bool,
    /// True if the broker takes each of its messages once.
    pub(in crate::link) has_reference: bool,
    pub(in crate::link) progress: PublisherProgress,
}

/// The progress of a publisher.
#[derive(Debug, Default)]
pub(in crate::link) struct PublisherProgress {
    pub(super) sent: u64,
    pub(super) outstanding: u32,
    is_done: bool,
    /// Sequence numbers to send again; almost always none.
    again: VecDeque<u32>,
    /// Number of sent messages at each barrier without an answer, the oldest first.
    barriers: VecDeque<u64>,
    /// Messages that the broker has accepted, or whose fate stays unknown.
    accepted: u64,
    /// Set while the confirm window is full. Its time has been counted up to here.
    full_since: Option<RunInstant>,
    /// Set while the broker gives no credit for a message that could be sent. Its time has been counted up to here.
    credit_since: Option<RunInstant>,
    /// Time from which window and broker have had room.
    roomy_since: RunInstant,
    delay: ClientDelay,
}

impl<W: Sends> Publisher<W> {
    /// Returns the number of messages for which window, limit and broker leave room.
    #[inline]
    pub(super) fn room(&self) -> u64 {
        let sent = self.progress.sent;
        self.window_and_credit().min(self.limit.map_or(u64::MAX, |limit| limit - sent))
    }

    #[inline]
    fn window_and_credit(&self) -> u64 {
        if self.progress.credit_since.is_some() { 0 } else { self.window_room() }
    }

    #[inline]
    fn window_room(&self) -> u64 {
        let outstanding = self.progress.outstanding;
        self.window.map_or(u64::MAX, |window| u64::from(window.saturating_sub(outstanding)))
    }

    /// Returns the number of messages that may be sent now; with a schedule, while they are due.
    #[inline]
    pub(super) fn allowed(&self, context: &ServeContext<'_>) -> u64 {
        if !self.progress.again.is_empty() {
            return self.window_and_credit().min(self.progress.again.len() as u64);
        }
        let has_time = match &self.arrivals {
            None => context.now >= self.start,
            Some(arrivals) => context.pass.due_until.is_some_and(|until| arrivals.is_due(until)),
        };
        if has_time { self.room() } else { 0 }
    }

    /// Returns the time at which the publisher may send next; absent while it waits for an answer, or is done.
    #[inline]
    pub(super) fn asks_at(&self, now: RunInstant) -> Option<RunInstant> {
        if !self.progress.again.is_empty() {
            return (self.window_and_credit() > 0).then_some(now);
        }
        let has_room = self.room() > 0;
        match &self.arrivals {
            None => has_room.then_some(self.start),
            Some(_) if self.progress.is_done => None,
            Some(arrivals) if has_room => arrivals.due(),
            // Messages that do not fit into the window are skipped when they are too late.
            Some(arrivals) if self.late == LatePolicy::Skip => {
                Some(arrivals.due()? + LATE_TOLERANCE)
            }
            Some(_) => None,
        }
    }

    /// Skips messages that are too late, if that is the policy, and notes the end of a schedule.
    #[inline]
    pub(super) fn leave_out(&mut self, socket: &Socket<W>, context: &mut ServeContext<'_>) {
        let has_room = self.room() > 0;
        let Some(arrivals) = &mut self.arrivals else { return };
        let leaves_out = self.late == LatePolicy::Skip && !self.progress.is_done;
        if leaves_out {
            let roomy_since = if has_room { self.progress.roomy_since } else { context.now };
            let ready_at = roomy_since.max(socket.ready_since());
            let now = context.now;
            while let Some(due) = arrivals.due().filter(|due| *due + LATE_TOLERANCE <= now) {
                arrivals.advance();
                context.left_out(self.progress.delay.measure(due, ready_at, context.now));
            }
        }
        self.note_end(context);
    }

    /// Notes the end of a schedule.
    #[inline]
    pub(super) fn note_end(&mut self, context: &mut ServeContext<'_>) {
        if self.arrivals.as_ref().is_some_and(|arrivals| arrivals.due().is_none()) {
            self.finish(context);
        }
    }

    /// Ends sending, and counts the messages that are overdue.
    pub(super) fn stop(&mut self, connection: &mut W, context: &mut ServeContext<'_>) {
        if !self.progress.is_done {
            self.count_overdue(context);
        }
        self.commit_rest(connection);
    }

    /// Encodes up to `most` messages and returns their number.
    #[inline]
    pub(super) fn append(
        &mut self,
        most: u64,
        socket: &mut Socket<W>,
        ring: Option<&mut ConfirmRing<SentMessage>>,
        index: u32,
        context: &mut ServeContext<'_>,
    ) -> u64 {
        let mut batch = MessageBatch {
            arrivals: self.arrivals.as_mut(),
            ready_at: self.progress.roomy_since.max(socket.ready_since()),
            delay: &mut self.progress.delay,
            publisher: self.number,
            index,
            sequence: self.progress.sent,
            again: &mut self.progress.again,
            ring,
            context,
        };
        let connection = &mut socket.connection;
        let encoded = encode(&mut self.payload, most, self.lane, &mut batch, connection);
        let next = batch.sequence;
        self.sent(&encoded, next, context);
        encoded.messages
    }

    fn sent(&mut self, encoded: &Encoded, next: u64, context: &mut ServeContext<'_>) {
        let count = encoded.messages;
        let counts = &mut context.measured.counts;
        counts.published_items += count * self.payload.items();
        counts.published_item_bytes += encoded.item_bytes;
        self.progress.sent = next;
        if let Some(window) = self.window {
            self.progress.outstanding += u32::try_from(count).unwrap_or(0);
            if self.progress.outstanding >= window && self.progress.full_since.is_none() {
                self.progress.full_since = Some(context.now);
            }
        }
        if self.limit == Some(self.progress.sent) {
            self.finish(context);
        }
    }

    fn finish(&mut self, context: &mut ServeContext<'_>) {
        if !std::mem::replace(&mut self.progress.is_done, true) {
            context.outcome.done.publishers += 1;
        }
    }

    /// Settles `count` answered messages. Returns true if the window was full and has room again.
    #[inline]
    pub(super) fn settled(&mut self, count: u32, context: &mut ServeContext<'_>) -> bool {
        let was_full = self.window_room() == 0;
        self.progress.outstanding -= count;
        if self.progress.full_since.is_some() {
            self.count_waits(context);
            self.progress.full_since = None;
            self.progress.roomy_since = context.now;
        }
        was_full
    }

    /// Notes that the broker takes no message now, although there is one to send.
    pub(super) fn wait_for_credit(&mut self, now: RunInstant) {
        self.progress.credit_since.get_or_insert(now);
    }

    /// Notes that the broker takes messages again. Returns true if the publisher has waited for it.
    pub(super) fn on_room(&mut self, context: &mut ServeContext<'_>) -> bool {
        let has_waited = self.progress.credit_since.is_some();
        if has_waited {
            self.count_waits(context);
            self.progress.credit_since = None;
            self.progress.roomy_since = context.now;
        }
        has_waited
    }

    /// Continues the numbers of its messages on a new connection. They must rise, so messages that are sent again are put
    /// in order.
    pub(super) fn resume(&mut self, connection: &mut W) {
        if !self.has_reference {
            return;
        }
        let sent = self.progress.sent;
        let again = self.progress.again.iter();
        let mut again: Vec<u64> = again.map(|low| whole(*low, sent)).collect();
        again.sort_unstable();
        self.progress.again = again.iter().copied().map(low_bits).collect();
        let numbers = again.into_iter().map(|sequence| sequence + 1).collect();
        connection.resume(self.lane, numbers, sent + 1);
    }

    /// Handles messages whose answers will not arrive, by their places among those of `sent`.
    pub(super) fn unanswered(&mut self, sent: &SentMessage, places: Range<u32>) {
        if self.republishes {
            self.progress.again.extend(places.map(|place| sent.sequence_at(place)));
        }
    }

    /// Notes that a barrier follows the publisher's messages.
    pub(super) fn on_barrier(&mut self) {
        self.progress.barriers.push_back(self.progress.sent);
    }

    /// Notes the answer to the oldest barrier: the broker has accepted the messages before it.
    pub(super) fn on_accepted(&mut self, context: &mut ServeContext<'_>) {
        let Some(end) = self.progress.barriers.pop_front() else { return };
        let first = std::mem::replace(&mut self.progress.accepted, end);
        if let Some(recorder) = context.recorder.as_mut().filter(|_| end > first) {
            recorder.accepted(self.number, low_bits(first), low_bits(end - first));
        }
    }

    /// Gives up all barriers without an answer. It stays unknown whether the broker has accepted the remaining
    /// messages.
    pub(super) fn give_up(&mut self, context: &mut ServeContext<'_>) {
        self.progress.barriers.clear();
        let sent = self.progress.sent;
        let first = std::mem::replace(&mut self.progress.accepted, sent);
        if self.window.is_none()
            && let Some(recorder) = context.recorder.as_mut().filter(|_| sent > first)
        {
            let (first, count) = (low_bits(first), low_bits(sent - first));
            recorder.note(Observation::Unaccounted { publisher: self.number, first, count });
        }
    }

    /// Handles the loss of the connection, after which outstanding messages get no answer.
    pub(super) fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        self.give_up(context);
        self.count_waits(context);
        self.progress.full_since = None;
        self.progress.credit_since = None;
        self.progress.outstanding = 0;
    }

    /// Counts the time with a full window and without credit up to now, so that each second has its share. A publisher
    /// that has sent all its messages waits for nothing.
    pub(super) fn count_waits(&mut self, context: &mut ServeContext<'_>) {
        let (now, counts) = (context.now, &mut context.measured.counts);
        let waits = [
            (&mut self.progress.full_since, &mut counts.window_full_nanos),
            (&mut self.progress.credit_since, &mut counts.credit_wait_nanos),
        ];
        for (since, nanos) in waits {
            let Some(since) = since else { continue };
            if !self.progress.is_done {
                *nanos += now.since(*since).get();
            }
            *since = now;
        }
    }

    /// Commits a transaction that has all its messages.
    #[inline]
    pub(super) fn commit_full(&mut self, connection: &mut W) {
        let Some(size) = self.tx_size else { return };
        if self.progress.outstanding == size || self.limit == Some(self.progress.sent) {
            connection.commit(self.lane);
        }
    }

    /// Returns whether the broker owes an answer. It owes none for an open transaction.
    pub(super) fn is_owed(&self) -> bool {
        self.progress.outstanding > 0 && !self.has_open_transaction()
    }

    /// Commits a transaction that gets no more messages.
    fn commit_rest(&mut self, connection: &mut W) {
        if self.has_open_transaction() {
            connection.commit(self.lane);
        }
    }

    fn has_open_transaction(&self) -> bool {
        let is_part = |size: u32| (1..size).contains(&self.progress.outstanding);
        self.tx_size.is_some_and(is_part) && self.limit != Some(self.progress.sent)
    }
}
