//! One publisher: what it may send, when, and what it keeps of it until the confirm.

use std::collections::VecDeque;

use rabbitscope_amqp::{ConfirmRing, Connection, Request};
use rabbitscope_runs::scenario::LatePolicy;

use super::{
    super::{Moment, client_delay::ClientDelay, socket::Socket},
    batch::{Batch, QUANTUM, Sent, low_bits, put},
};
use crate::{
    message::Payload, stamp, tempo::LATE_NANOS, timetable::Timetable, verify::Observation,
};

pub(in crate::link) struct Publisher {
    pub(in crate::link) channel: u16,
    pub(in crate::link) payload: Payload,
    /// Number among all publishers of the scenario.
    pub(in crate::link) number: u32,
    pub(in crate::link) window: Option<u32>,
    /// A commit follows so many messages; the window is as large.
    pub(in crate::link) tx_size: Option<u32>,
    /// Nothing is sent before, in nanoseconds since the run began.
    pub(in crate::link) start: u64,
    pub(in crate::link) limit: Option<u64>,
    pub(in crate::link) pace: Option<Timetable>,
    pub(in crate::link) late: LatePolicy,
    /// What had no confirm when its connection was lost is sent again.
    pub(in crate::link) republishes: bool,
    pub(in crate::link) progress: PublisherProgress,
}

/// How far a publisher has come.
#[derive(Debug, Default)]
pub(in crate::link) struct PublisherProgress {
    pub(super) sent: u64,
    pub(super) outstanding: u32,
    is_done: bool,
    /// Messages that are to be sent again; almost always none.
    again: VecDeque<u32>,
    /// The confirm window has been full, and its time counted, up to here.
    full_since: Option<u64>,
    /// The window has had room since then.
    roomy_since: u64,
    delay: ClientDelay,
}

impl Publisher {
    /// Messages that window and limit leave room for.
    #[inline]
    pub(super) fn room(&self) -> u64 {
        let sent = self.progress.sent;
        self.window_room().min(self.limit.map_or(u64::MAX, |limit| limit - sent))
    }

    #[inline]
    fn window_room(&self) -> u64 {
        let outstanding = self.progress.outstanding;
        self.window.map_or(u64::MAX, |window| u64::from(window.saturating_sub(outstanding)))
    }

    /// Messages that may go now; with a schedule, as long as they are due.
    #[inline]
    pub(super) fn allowed(&self, moment: &Moment<'_>) -> u64 {
        if !self.progress.again.is_empty() {
            return self.window_room().min(self.progress.again.len() as u64);
        }
        let has_time = match &self.pace {
            None => moment.now >= self.start,
            Some(pace) => moment.due_until.is_some_and(|until| pace.is_due(until)),
        };
        if has_time { self.room() } else { 0 }
    }

    /// When it is to be looked at next; absent while it waits for an answer, or is done.
    #[inline]
    pub(super) fn asks_at(&self, now: u64) -> Option<u64> {
        if !self.progress.again.is_empty() {
            return (self.window_room() > 0).then_some(now);
        }
        let has_room = self.room() > 0;
        match &self.pace {
            None => has_room.then_some(self.start),
            Some(_) if self.progress.is_done => None,
            Some(pace) if has_room => pace.due(),
            // What it may not send is left out in time.
            Some(pace) if self.late == LatePolicy::Skip => Some(pace.due()? + LATE_NANOS),
            Some(_) => None,
        }
    }

    /// Leaves out what is too late, if that is the policy, and notes the end of a schedule.
    #[inline]
    pub(super) fn leave_out(&mut self, socket: &Socket, moment: &mut Moment<'_>) {
        let has_room = self.room() > 0;
        let Some(pace) = &mut self.pace else { return };
        let leaves_out = self.late == LatePolicy::Skip && !self.progress.is_done;
        if leaves_out && moment.now > LATE_NANOS {
            let roomy_since = if has_room { self.progress.roomy_since } else { moment.now };
            let ready_at = roomy_since.max(socket.ready_since());
            while let Some(due) = pace.due().filter(|due| *due <= moment.now - LATE_NANOS) {
                pace.advance();
                moment.left_out(self.progress.delay.of(due, ready_at, moment.now));
            }
        }
        self.note_end(moment);
    }

    /// Notes the end of a schedule.
    #[inline]
    pub(super) fn note_end(&mut self, moment: &mut Moment<'_>) {
        if self.pace.as_ref().is_some_and(|pace| pace.due().is_none()) {
            self.finish(moment);
        }
    }

    /// Nothing more is sent; what should have been sent by now is counted.
    pub(super) fn stop(&mut self, connection: &mut Connection, moment: &mut Moment<'_>) {
        if !self.progress.is_done {
            self.count_overdue(moment);
        }
        self.commit_rest(connection);
    }

    /// Encodes up to `most` messages and says how many.
    #[inline]
    pub(super) fn append(
        &mut self,
        most: u64,
        socket: &mut Socket,
        ring: Option<&mut ConfirmRing<Sent>>,
        index: u32,
        moment: &mut Moment<'_>,
    ) -> u64 {
        let mut batch = Batch {
            pace: self.pace.as_mut(),
            ready_at: self.progress.roomy_since.max(socket.ready_since()),
            delay: &mut self.progress.delay,
            publisher: self.number,
            index,
            sequence: self.progress.sent,
            again: &mut self.progress.again,
            ring,
            moment,
        };
        let count = match &mut self.payload {
            Payload::Plain(template) if batch.is_uniform() => {
                batch.append_uniform(most, template, &mut socket.connection)
            }
            Payload::Plain(template) => {
                let mut room = [[0; stamp::SIZE]; QUANTUM];
                let stamps = batch.take(most, &mut room);
                let heads = socket.connection.publish(template, stamps.len());
                for (head, stamp) in heads.zip(stamps) {
                    put(*stamp, head);
                }
                stamps.len() as u64
            }
            Payload::Composed(composed) => {
                let mut room = [[0; stamp::SIZE]; QUANTUM];
                let stamps = batch.take(most, &mut room);
                let mut turn = composed.turn(batch.moment.now);
                for stamp in stamps {
                    let (route, content) = turn.next();
                    let has_room = content.head_room() >= stamp::SIZE;
                    let head = if has_room { &stamp[..] } else { &[] };
                    socket.connection.publish_parts(self.channel, route, content, head);
                }
                stamps.len() as u64
            }
        };
        let next = batch.sequence;
        self.sent(count, next, moment);
        count
    }

    fn sent(&mut self, count: u64, next: u64, moment: &mut Moment<'_>) {
        self.progress.sent = next;
        if let Some(window) = self.window {
            self.progress.outstanding += u32::try_from(count).unwrap_or(0);
            if self.progress.outstanding >= window && self.progress.full_since.is_none() {
                self.progress.full_since = Some(moment.now);
            }
        }
        if self.limit == Some(self.progress.sent) {
            self.finish(moment);
        }
    }

    fn finish(&mut self, moment: &mut Moment<'_>) {
        if !std::mem::replace(&mut self.progress.is_done, true) {
            moment.publishers_done += 1;
        }
    }

    /// One of its messages was answered. True: there is room in the window again.
    #[inline]
    pub(super) fn settled(&mut self, moment: &mut Moment<'_>) -> bool {
        let was_full = self.window_room() == 0;
        self.progress.outstanding -= 1;
        if self.progress.full_since.is_some() {
            self.count_full(moment);
            self.progress.full_since = None;
            self.progress.roomy_since = moment.now;
        }
        was_full
    }

    /// The answer to this one will not come.
    pub(super) fn unanswered(&mut self, sent: &Sent) {
        if self.republishes {
            self.progress.again.push_back(sent.sequence);
        }
    }

    /// The answers to what it sent will not come.
    pub(super) fn lose(&mut self, moment: &mut Moment<'_>) {
        if self.window.is_none()
            && let Some(witness) = &mut moment.witness
        {
            let before = low_bits(self.progress.sent);
            witness.note(Observation::Unaccounted { publisher: self.number, before });
        }
        self.count_full(moment);
        self.progress.full_since = None;
        self.progress.outstanding = 0;
    }

    /// Time with a full window is counted up to now, so that each second has its share. Whoever has
    /// sent all its messages waits for nothing.
    pub(super) fn count_full(&mut self, moment: &mut Moment<'_>) {
        if let Some(since) = &mut self.progress.full_since {
            if !self.progress.is_done {
                let full = moment.now.saturating_sub(*since);
                moment.tally.counts.window_full_nanos += full;
            }
            *since = moment.now;
        }
    }

    /// Commits a transaction that has all its messages.
    #[inline]
    pub(super) fn commit_full(&mut self, connection: &mut Connection) {
        let Some(size) = self.tx_size else { return };
        if self.progress.outstanding == size || self.limit == Some(self.progress.sent) {
            connection.request(self.channel, &Request::TxCommit);
        }
    }

    /// Whether the broker owes an answer: not for a transaction that is open.
    pub(super) fn is_owed(&self) -> bool {
        self.progress.outstanding > 0 && !self.has_open_transaction()
    }

    /// Commits a transaction that will get no more messages.
    fn commit_rest(&mut self, connection: &mut Connection) {
        if self.has_open_transaction() {
            connection.request(self.channel, &Request::TxCommit);
        }
    }

    fn has_open_transaction(&self) -> bool {
        let is_part = |size: u32| (1..size).contains(&self.progress.outstanding);
        self.tx_size.is_some_and(is_part) && self.limit != Some(self.progress.sent)
    }
}
