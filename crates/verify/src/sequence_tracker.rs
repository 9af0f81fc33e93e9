//! The accepted and the delivered messages of one publisher, by delivery point.

use super::{
    shortfall::{Delivery, DeliveryPoint, EvictedCounts, Shortfall, ones},
    window::{Bits, ROW, before},
};

/// The latest messages of a publisher.
#[derive(Debug)]
pub(super) struct SequenceTracker {
    /// Number of rows in the window.
    rows: u64,
    /// The oldest row of the window.
    oldest: u64,
    /// One more than the highest sequence number seen so far.
    end: u64,
    accepted: Bits,
    /// Messages that were delivered anywhere, or returned.
    delivered: Bits,
    republished: Option<Bits>,
    points: Vec<DeliveryPointState>,
    evicted: EvictedCounts,
    /// Messages that the broker may not have received, unless they were delivered. They count as accepted here.
    doubtful: Option<Bits>,
    accepted_count: u64,
    /// Doubtful messages that were not delivered when they left the window.
    doubted_count: u64,
    unjudged: u64,
}

#[derive(Debug)]
struct DeliveryPointState {
    point: DeliveryPoint,
    received: Bits,
    /// Messages received by deliveries that were not marked as redelivered.
    unmarked: Bits,
    end: u64,
    evicted: EvictedCounts,
    /// Messages before this one may be read again.
    again_before: u64,
    /// True if the next message is the first that the consumer reads of the stream.
    is_joining: bool,
}

impl SequenceTracker {
    /// Creates a tracker with a window of `rows` rows, a power of two.
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: rows as u64,
            oldest: 0,
            end: 0,
            accepted: Bits::new(rows),
            delivered: Bits::new(rows),
            republished: None,
            points: Vec::new(),
            evicted: EvictedCounts::default(),
            doubtful: None,
            accepted_count: 0,
            doubted_count: 0,
            unjudged: 0,
        }
    }

    /// Returns one more than the highest sequence number seen so far.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns the number of messages that the broker accepted, as it reported or as their delivery shows.
    pub(super) fn accepted_count(&self) -> u64 {
        self.accepted_count - self.doubted_count()
    }

    /// Returns the number of messages that the broker may or may not have accepted.
    pub(super) fn doubted_count(&self) -> u64 {
        let rows = self.oldest..self.end.div_ceil(ROW);
        let left = rows.map(|row| ones(self.unsure(row) & !self.delivered.row(row)));
        self.doubted_count + left.sum::<u64>()
    }

    /// Returns the doubtful messages of a row.
    fn unsure(&self, row: u64) -> u64 {
        self.doubtful.as_ref().map_or(0, |doubtful| doubtful.row(row))
    }

    pub(super) fn accept(&mut self, sequence: u64) {
        if !self.reach(sequence) {
            self.accepted_count += 1;
            self.unjudged += 1;
        } else if !self.accepted.set(sequence) {
            self.accepted_count += 1;
        }
    }

    pub(super) fn republish(&mut self, sequence: u64) {
        if self.reach(sequence) {
            let rows = usize::try_from(self.rows).unwrap_or(1);
            self.republished.get_or_insert_with(|| Bits::new(rows)).set(sequence);
        }
    }

    /// Notes a message that was sent, but that the broker may not have accepted.
    pub(super) fn doubt(&mut self, sequence: u64) {
        if !self.reach(sequence) {
            self.accepted_count += 1;
            self.doubted_count += 1;
            self.unjudged += 1;
        } else if !self.accepted.set(sequence) {
            self.accepted_count += 1;
            let rows = usize::try_from(self.rows).unwrap_or(1);
            self.doubtful.get_or_insert_with(|| Bits::new(rows)).set(sequence);
        }
    }

    /// Notes a returned message, which no consumer will receive.
    pub(super) fn take_back(&mut self, sequence: u64) {
        if self.reach(sequence) {
            self.delivered.set(sequence);
            for at in &mut self.points {
                at.received.set(sequence);
            }
        }
    }

    #[inline]
    pub(super) fn deliver(
        &mut self,
        point: DeliveryPoint,
        sequence: u64,
        redelivered: bool,
    ) -> Delivery {
        let is_in_window = self.reach(sequence);
        let index = self.point(point);
        if self.points[index].is_joining {
            self.join(index, sequence);
        }
        let at = &mut self.points[index];
        if !is_in_window {
            at.evicted.late += 1;
            self.evicted.late += 1;
            return Delivery::Unchecked;
        }
        at.end = at.end.max(sequence + 1);
        self.delivered.set(sequence);
        let was_received = at.received.set(sequence);
        if was_received && sequence < at.again_before {
            return Delivery::ReadAgain;
        }
        if !redelivered && at.unmarked.set(sequence) {
            let again = self.republished.as_ref();
            let republished = again.is_some_and(|again| again.has(sequence));
            return Delivery::Duplicate { republished };
        }
        Delivery::Fine
    }

    /// Notes that a consumer of a stream subscribes again.
    pub(super) fn resubscribe(&mut self, queue: u32, consumer: u32) {
        let is_it = |at: &&mut DeliveryPointState| {
            at.point.queue == queue && at.point.consumer == Some(consumer)
        };
        if let Some(at) = self.points.iter_mut().find(is_it) {
            at.again_before = at.end;
            at.is_joining = at.point.joins_late;
        }
    }

    /// Moves the window up to a message. Returns false if the message is older than the window.
    #[inline]
    fn reach(&mut self, sequence: u64) -> bool {
        let row = sequence / ROW;
        if row < self.oldest {
            return false;
        }
        while row >= self.oldest + self.rows {
            self.retire();
        }
        self.end = self.end.max(sequence + 1);
        true
    }

    /// Removes the oldest row from the window.
    fn retire(&mut self) {
        let row = self.oldest;
        let accepted = self.accepted.row(row);
        let unsure = self.unsure(row);
        self.doubted_count += ones(unsure & !self.delivered.row(row));
        self.evicted.leave(accepted & !self.delivered.row(row), unsure);
        for at in &mut self.points {
            at.evicted.leave(accepted & !at.received.row(row), unsure);
            at.received.clear(row);
            at.unmarked.clear(row);
        }
        self.accepted.clear(row);
        self.delivered.clear(row);
        for bits in [&mut self.republished, &mut self.doubtful].into_iter().flatten() {
            bits.clear(row);
        }
        self.oldest += 1;
    }

    fn point(&mut self, point: DeliveryPoint) -> usize {
        let known = self.points.iter().position(|state| state.point == point);
        known.unwrap_or_else(|| {
            let rows = usize::try_from(self.rows).unwrap_or(1);
            self.points.push(DeliveryPointState {
                point,
                received: Bits::new(rows),
                unmarked: Bits::new(rows),
                end: 0,
                evicted: EvictedCounts::default(),
                again_before: 0,
                is_joining: point.joins_late,
            });
            self.points.len() - 1
        })
    }

    /// Notes that the consumer was not subscribed for the messages between its last one and this one.
    fn join(&mut self, index: usize, sequence: u64) {
        let window = self.oldest * ROW;
        let at = &mut self.points[index];
        at.is_joining = false;
        if at.end < window {
            for evicted in [&mut self.evicted, &mut at.evicted] {
                evicted.unsure += std::mem::take(&mut evicted.missing);
            }
        }
        for missed in at.end.max(window)..sequence {
            let is_new = !at.received.set(missed) & !self.delivered.set(missed);
            self.unjudged += u64::from(is_new && self.accepted.has(missed));
        }
    }

    /// Returns the messages that were not delivered from a queue to consumers that want them; absent if none were
    /// delivered. `is_ordered`: messages arrive in order, so that those after the last one may still be in the queue.
    pub(super) fn shortfall_at(
        &self,
        queue: u32,
        is_ordered: bool,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<Shortfall> {
        let is_at =
            |point: &DeliveryPoint| point.queue == queue && point.consumer.is_none_or(&is_wanted);
        let mut points = self.points.iter().filter(|state| is_at(&state.point)).peekable();
        points.peek()?;
        let each = points.map(|state| {
            let tail_from = if is_ordered { state.end } else { u64::MAX };
            self.shortfall_of(&state.received, state.evicted, tail_from)
        });
        Some(each.fold(Shortfall::default(), Shortfall::plus))
    }

    /// Returns the messages that were not delivered anywhere. With `is_ordered`, each may still be in the queue that is read
    /// least far: which of them it went to is unknown.
    pub(super) fn shortfall(&self, is_ordered: bool) -> Shortfall {
        let read_to = |queue: u32| {
            let of_queue = self.points.iter().filter(|state| state.point.queue == queue);
            of_queue.map(|state| state.end).max()
        };
        let end = self.points.iter().filter_map(|state| read_to(state.point.queue)).min();
        let end = end.unwrap_or(0);
        let tail_from = if is_ordered { end } else { u64::MAX };
        self.shortfall_of(&self.delivered, self.evicted, tail_from)
    }

    /// Returns the number of accepted messages without a verdict.
    pub(super) fn unjudged(&self) -> u64 {
        self.unjudged
    }

    fn shortfall_of(&self, got: &Bits, evicted: EvictedCounts, tail_from: u64) -> Shortfall {
        let mut sum = Shortfall { unjudged: evicted.unsure, ..Shortfall::default() };
        if tail_from <= self.oldest * ROW {
            sum.unjudged += evicted.missing;
        } else {
            sum.missing = evicted.missing.saturating_sub(evicted.late);
            sum.unjudged += evicted.missing.min(evicted.late);
        }
        for row in self.oldest..self.end.div_ceil(ROW) {
            let missing = self.accepted.row(row) & !got.row(row);
            let (sure, arrived) = (!self.unsure(row), before(row, tail_from));
            sum.missing += ones(missing & sure & arrived);
            sum.tail += ones(missing & sure & !arrived);
            sum.unjudged += ones(missing & !sure);
        }
        sum
    }
}
