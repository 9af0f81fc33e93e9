//! Messages of one publisher that are encoded together: their stamps, and the records kept until their confirms.
//! `publisher.rs` decides how many messages may be sent, and when.

use std::collections::VecDeque;

use rabbitscope_protocol::ConfirmRing;
use rabbitscope_timing::{Nanos, RunInstant, STAMP_SIZE, Stamp};
use rabbitscope_verify::Observation;

use crate::{
    link::serve_context::ServeContext,
    message::Encoder,
    pacing::{ArrivalSchedule, ClientDelay},
};

/// Messages that a publisher may send before the other publishers of its connection send. Chosen:
/// their stamps (12 bytes each) fit into 12 cache lines of the stack.
pub(super) const QUANTUM: usize = 64;

/// The record of a message until its confirm.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentMessage {
    pub(super) at: RunInstant,
    /// Delay of the sending after the scheduled time; absent without a schedule.
    pub(super) lateness: Option<Nanos>,
    pub(super) publisher: u32,
    /// The low bits of its sequence number: at least as many as a stamp has.
    pub(super) sequence: u32,
}

/// Messages that are encoded together and have the same time of sending.
pub(super) struct MessageBatch<'a, 'm> {
    pub(super) arrivals: Option<&'a mut ArrivalSchedule>,
    /// Time from which only the client held the publisher back.
    pub(super) ready_at: RunInstant,
    pub(super) delay: &'a mut ClientDelay,
    pub(super) publisher: u32,
    /// Number of the publisher on its connection.
    pub(super) index: u32,
    pub(super) sequence: u64,
    /// Sequence numbers to send again, before new messages.
    pub(super) again: &'a mut VecDeque<u32>,
    pub(super) ring: Option<&'a mut ConfirmRing<SentMessage>>,
    pub(super) context: &'a mut ServeContext<'m>,
}

impl MessageBatch<'_, '_> {
    /// Fills the stamps of the next messages, at most `most`.
    #[inline]
    pub(super) fn take<'a>(
        &mut self,
        most: u64,
        room: &'a mut [[u8; STAMP_SIZE]; QUANTUM],
    ) -> &'a [[u8; STAMP_SIZE]] {
        let mut count = 0;
        for (place, _) in room.iter_mut().zip(0..most) {
            let Some(stamp) = self.next() else { break };
            *place = stamp;
            count += 1;
        }
        &room[..count]
    }

    /// Returns the whole sequence numbers of the messages that are sent again next; almost always none.
    pub(super) fn numbers_again(&self) -> Vec<u64> {
        self.again.iter().map(|low| whole(*low, self.sequence)).collect()
    }

    /// Returns whether the next messages have no schedule, so that their stamps differ only in their numbers.
    #[inline]
    pub(super) fn is_uniform(&self) -> bool {
        self.arrivals.is_none() && self.again.is_empty()
    }

    /// Encodes `count` messages without a schedule.
    #[inline]
    pub(super) fn append_uniform<E: Encoder>(
        &mut self,
        count: u64,
        template: &E::Template,
        connection: &mut E,
    ) -> u64 {
        let sequences = self.sequence..self.sequence + count;
        let first = Stamp::new(self.context.run.tag, self.context.now, None, 0).encode();
        let heads = connection.publish(template, usize::try_from(count).unwrap_or(0));
        for (head, sequence) in heads.zip(sequences.clone()) {
            let number = self.context.run.numbering.join(self.publisher, sequence);
            put(Stamp::renumber(first, number), head);
        }
        self.sequence = sequences.end;
        if self.ring.is_some() || self.context.recorder.is_some() {
            sequences.for_each(|sequence| self.remember(sequence, None));
        }
        count
    }

    /// Returns the stamp of the next message; absent if none is due.
    #[inline]
    fn next(&mut self) -> Option<[u8; STAMP_SIZE]> {
        let now = self.context.now;
        if let Some(sequence) = self.again.pop_front() {
            self.context.measured.counts.republished += 1;
            if let Some(recorder) = &mut self.context.recorder {
                let publisher = self.publisher;
                recorder.note(Observation::Republished { publisher, first: sequence, count: 1 });
            }
            return Some(self.stamp(u64::from(sequence), None));
        }
        let lateness = match &mut self.arrivals {
            None => None,
            Some(arrivals)
                if !self.context.pass.due_until.is_some_and(|until| arrivals.is_due(until)) =>
            {
                return None;
            }
            Some(arrivals) => {
                let due = arrivals.due()?;
                arrivals.advance();
                self.context
                    .sent_behind(now.since(due), self.delay.measure(due, self.ready_at, now));
                Some(now.since(due))
            }
        };
        self.sequence += 1;
        Some(self.stamp(self.sequence - 1, lateness))
    }

    #[inline]
    fn stamp(&mut self, sequence: u64, lateness: Option<Nanos>) -> [u8; STAMP_SIZE] {
        self.remember(sequence, lateness);
        let number = self.context.run.numbering.join(self.publisher, sequence);
        Stamp::new(self.context.run.tag, self.context.now, lateness, number).encode()
    }

    /// Keeps a message for its confirm, and records it for verification and trace.
    #[inline]
    fn remember(&mut self, sequence: u64, lateness: Option<Nanos>) {
        if let Some(recorder) = &mut self.context.recorder {
            recorder.sent(self.publisher, sequence, self.context.now, lateness);
        }
        if let Some(ring) = &mut self.ring {
            let (at, sequence) = (self.context.now, low_bits(sequence));
            ring.push(SentMessage { at, lateness, publisher: self.index, sequence });
        }
    }
}

/// Puts the stamp at the head of a body. Smaller bodies carry none.
#[inline]
pub(super) fn put(stamp: [u8; STAMP_SIZE], head: &mut [u8]) {
    if let Some(head) = head.first_chunk_mut() {
        *head = stamp;
    }
}

/// Returns the sequence number with these low bits that is the last one before `sent`.
pub(super) fn whole(low: u32, sent: u64) -> u64 {
    sent - u64::from(low_bits(sent).wrapping_sub(low))
}

#[expect(clippy::cast_possible_truncation, reason = "a stamp keeps fewer bits")]
pub(super) fn low_bits(sequence: u64) -> u32 {
    sequence as u32
}
