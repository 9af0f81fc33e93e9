//! Messages of one publisher that are encoded together: their stamps, and the records kept until their confirms.
//! `publisher.rs` decides how many messages may be sent, and when.

use std::collections::VecDeque;

use rabbitscope_protocol::ConfirmRing;
use rabbitscope_timing::{Nanos, RunInstant, STAMP_SIZE, Stamp, StampSeries};
use rabbitscope_verify::Observation;

use crate::{
    link::serve_context::ServeContext,
    message::Encoder,
    pacing::{ArrivalSchedule, ClientDelay},
};

/// Messages that a publisher may send before the other publishers of its connection send. Chosen:
/// their stamps (12 bytes each) fit into 12 cache lines of the stack.
pub(super) const QUANTUM: usize = 64;

/// The record of a message until its confirm, or of successive messages without a schedule that are sent together.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentMessage {
    pub(super) at: RunInstant,
    /// Delay of the sending after the scheduled time; absent without a schedule.
    pub(super) lateness: Option<Nanos>,
    pub(super) publisher: u32,
    /// The low bits of the first sequence number: at least as many as a stamp has.
    pub(super) sequence: u32,
}

impl SentMessage {
    /// Returns the low bits of the sequence number of the message at this place.
    #[inline]
    pub(super) fn sequence_at(&self, place: u32) -> u32 {
        self.sequence.wrapping_add(place)
    }
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
        let (from, publisher, run) = (self.sequence, self.publisher, self.context.run);
        let stamps = StampSeries::new(run.tag, self.context.now, run.numbering, publisher);
        let heads = connection.publish(template, usize::try_from(count).unwrap_or(0));
        // A fold keeps the number in a register, and is faster than a loop over an iterator of several parts.
        self.sequence = heads.fold(from, move |sequence, head| {
            put(stamps.encode(sequence), head);
            sequence + 1
        });
        if let Some(recorder) = &mut self.context.recorder {
            let now = self.context.now;
            (from..self.sequence)
                .for_each(|sequence| recorder.sent(publisher, sequence, now, None));
        }
        let record = self.record(from, None);
        if let Some(ring) = &mut self.ring {
            ring.push_all(&record, low_bits(count));
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
        let record = self.record(sequence, lateness);
        if let Some(ring) = &mut self.ring {
            ring.push(record);
        }
    }

    #[inline]
    fn record(&self, sequence: u64, lateness: Option<Nanos>) -> SentMessage {
        let (at, sequence) = (self.context.now, low_bits(sequence));
        SentMessage { at, lateness, publisher: self.index, sequence }
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
