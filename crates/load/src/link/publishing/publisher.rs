//! One publisher: what it may send, when, and what it keeps of it until the confirm.

use std::collections::VecDeque;

use rabbitscope_amqp::{ConfirmRing, Connection, PublishTemplate, Request};
use rabbitscope_data::scenario::LatePolicy;

use super::super::{Moment, client_delay::ClientDelay, socket::Socket};
use crate::{
    message::Payload,
    stamp::{self, Stamp},
    tempo::LATE_NANOS,
    timetable::Timetable,
    verify::Observation,
};

/// Messages that a publisher may send before the others on its connection get their turn, and that
/// have room for their stamps when these are made one by one.
pub(super) const QUANTUM: usize = 64;

/// Remembered for each message until its confirm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Nanoseconds since the run began.
    pub(super) at: u64,
    /// How long after its time on the schedule, if there is one.
    pub(super) late_nanos: Option<u64>,
    pub(super) publisher: u32,
    /// Low bits of its number with the publisher, as many as a stamp has and more.
    pub(super) sequence: u32,
}

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

/// Messages that are encoded together: they have the same time of sending.
struct Batch<'a, 'm> {
    pace: Option<&'a mut Timetable>,
    /// Nothing but ourselves held the publisher back after that.
    ready_at: u64,
    delay: &'a mut ClientDelay,
    publisher: u32,
    /// Of the publisher on its connection.
    index: u32,
    sequence: u64,
    /// These go first.
    again: &'a mut VecDeque<u32>,
    ring: Option<&'a mut ConfirmRing<Sent>>,
    moment: &'a mut Moment<'m>,
}

impl Batch<'_, '_> {
    /// The stamps of the next messages, at most so many.
    #[inline]
    fn take<'a>(
        &mut self,
        most: u64,
        room: &'a mut [[u8; stamp::SIZE]; QUANTUM],
    ) -> &'a [[u8; stamp::SIZE]] {
        let mut count = 0;
        for (place, _) in room.iter_mut().zip(0..most) {
            let Some(stamp) = self.next() else { break };
            *place = stamp;
            count += 1;
        }
        &room[..count]
    }

    /// Are the next messages on no schedule? Their stamps differ in their numbers only.
    #[inline]
    fn is_uniform(&self) -> bool {
        self.pace.is_none() && self.again.is_empty()
    }

    /// Encodes so many messages that are on no schedule.
    #[inline]
    fn append_uniform(
        &mut self,
        count: u64,
        template: &PublishTemplate,
        connection: &mut Connection,
    ) -> u64 {
        let sequences = self.sequence..self.sequence + count;
        let first = Stamp::new(self.moment.mark, self.moment.now, None, 0).encode();
        let heads = connection.publish(template, usize::try_from(count).unwrap_or(0));
        for (head, sequence) in heads.zip(sequences.clone()) {
            let number = self.moment.numbering.join(self.publisher, sequence);
            put(Stamp::renumber(first, number), head);
        }
        self.sequence = sequences.end;
        if self.ring.is_some() || self.moment.witness.is_some() {
            sequences.for_each(|sequence| self.remember(sequence, None));
        }
        count
    }

    /// The stamp of the next message; absent when none is due.
    #[inline]
    fn next(&mut self) -> Option<[u8; stamp::SIZE]> {
        let now = self.moment.now;
        if let Some(sequence) = self.again.pop_front() {
            self.moment.tally.counts.republished += 1;
            if let Some(witness) = &mut self.moment.witness {
                let publisher = self.publisher;
                witness.note(Observation::Republished { publisher, first: sequence, count: 1 });
            }
            return Some(self.stamp(u64::from(sequence), None));
        }
        let late_nanos = match &mut self.pace {
            None => None,
            Some(pace) if !self.moment.due_until.is_some_and(|until| pace.is_due(until)) => {
                return None;
            }
            Some(pace) => {
                let due = pace.due()?;
                pace.advance();
                self.moment.sent_behind(now - due, self.delay.of(due, self.ready_at, now));
                Some(now - due)
            }
        };
        self.sequence += 1;
        Some(self.stamp(self.sequence - 1, late_nanos))
    }

    #[inline]
    fn stamp(&mut self, sequence: u64, late_nanos: Option<u64>) -> [u8; stamp::SIZE] {
        self.remember(sequence, late_nanos);
        let number = self.moment.numbering.join(self.publisher, sequence);
        Stamp::new(self.moment.mark, self.moment.now, late_nanos, number).encode()
    }

    /// Remembers a message for its confirm, and for those that check what becomes of it.
    #[inline]
    fn remember(&mut self, sequence: u64, late_nanos: Option<u64>) {
        if let Some(witness) = &mut self.moment.witness {
            witness.sent(self.publisher, sequence, self.moment.now, late_nanos);
        }
        if let Some(ring) = &mut self.ring {
            let (at, sequence) = (self.moment.now, low_bits(sequence));
            ring.push(Sent { at, late_nanos, publisher: self.index, sequence });
        }
    }
}

/// Smaller bodies carry no stamp.
#[inline]
fn put(stamp: [u8; stamp::SIZE], head: &mut [u8]) {
    if let Some(head) = head.first_chunk_mut() {
        *head = stamp;
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a stamp keeps fewer bits")]
pub(super) fn low_bits(sequence: u64) -> u32 {
    sequence as u32
}
