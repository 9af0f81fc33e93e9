//! One publisher's messages: which the broker accepted, and which were delivered where.

use super::{
    shortfall::{Delivery, DeliveryPoint, EvictedCounts, Shortfall, ones},
    window::{Bits, ROW, before},
};

/// The latest messages of a publisher.
#[derive(Debug)]
pub(super) struct SequenceTracker {
    /// Rows of the window.
    rows: u64,
    /// The oldest row of it.
    oldest: u64,
    /// One more than the highest number that was seen.
    end: u64,
    accepted: Bits,
    /// Delivered anywhere, or returned.
    delivered: Bits,
    republished: Option<Bits>,
    points: Vec<DeliveryPointState>,
    evicted: EvictedCounts,
    /// Whether the broker received messages before this one is not known.
    unsure_before: u64,
    accepted_count: u64,
    unjudged: u64,
}

#[derive(Debug)]
struct DeliveryPointState {
    point: DeliveryPoint,
    received: Bits,
    /// By deliveries that were not marked as redelivered.
    unmarked: Bits,
    end: u64,
    evicted: EvictedCounts,
    /// Messages before this one may be read again.
    again_before: u64,
    /// The next message is the first that it reads of the stream.
    is_joining: bool,
}

impl SequenceTracker {
    /// `rows`: a power of two.
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
            unsure_before: 0,
            accepted_count: 0,
            unjudged: 0,
        }
    }

    /// One more than the highest number that was seen.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Messages that the broker accepted.
    pub(super) fn accepted_count(&self) -> u64 {
        self.accepted_count
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

    pub(super) fn doubt_before(&mut self, sequence: u64) {
        self.unsure_before = self.unsure_before.max(sequence);
    }

    /// The message was returned: no consumer will receive it.
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

    /// A consumer of a stream subscribes again.
    pub(super) fn resubscribe(&mut self, queue: u32, consumer: u32) {
        let is_it = |at: &&mut DeliveryPointState| {
            at.point.queue == queue && at.point.consumer == Some(consumer)
        };
        if let Some(at) = self.points.iter_mut().find(is_it) {
            at.again_before = at.end;
            at.is_joining = at.point.joins_late;
        }
    }

    /// Moves the window up to a message. False: the message is older than the window.
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
        let unsure = before(row, self.unsure_before);
        self.evicted.leave(accepted & !self.delivered.row(row), unsure);
        for at in &mut self.points {
            at.evicted.leave(accepted & !at.received.row(row), unsure);
            at.received.clear(row);
            at.unmarked.clear(row);
        }
        self.accepted.clear(row);
        self.delivered.clear(row);
        if let Some(again) = &mut self.republished {
            again.clear(row);
        }
        self.oldest += 1;
    }

    fn point(&mut self, point: DeliveryPoint) -> usize {
        let known = self.points.iter().position(|at| at.point == point);
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

    /// The consumer was not subscribed for the messages between its last one and this one.
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

    /// The messages that were not delivered from a queue; absent when none were delivered.
    /// `is_ordered`: messages arrive in order, so that those after the last one may still be in the
    /// queue.
    pub(super) fn shortfall_at(&self, queue: u32, is_ordered: bool) -> Option<Shortfall> {
        let mut points = self.points.iter().filter(|at| at.point.queue == queue).peekable();
        points.peek()?;
        let each = points.map(|at| {
            let tail_from = if is_ordered { at.end } else { u64::MAX };
            self.shortfall_of(&at.received, at.evicted, tail_from)
        });
        Some(each.fold(Shortfall::default(), Shortfall::plus))
    }

    /// The messages that were not delivered anywhere.
    pub(super) fn shortfall(&self, is_ordered: bool) -> Shortfall {
        let end = self.points.iter().map(|at| at.end).max().unwrap_or(0);
        let tail_from = if is_ordered { end } else { u64::MAX };
        self.shortfall_of(&self.delivered, self.evicted, tail_from)
    }

    /// Accepted messages about which nothing can be said.
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
            let (sure, arrived) = (!before(row, self.unsure_before), before(row, tail_from));
            sum.missing += ones(missing & sure & arrived);
            sum.tail += ones(missing & sure & !arrived);
            sum.unjudged += ones(missing & !sure);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: DeliveryPoint = DeliveryPoint { queue: 0, consumer: None, joins_late: false };
    const OTHER: DeliveryPoint = DeliveryPoint { queue: 1, consumer: None, joins_late: false };

    fn tracker_of(accepted: u64) -> SequenceTracker {
        let mut tracker = SequenceTracker::new(2);
        (0..accepted).for_each(|sequence| tracker.accept(sequence));
        tracker
    }

    fn receive(
        tracker: &mut SequenceTracker,
        point: DeliveryPoint,
        messages: impl IntoIterator<Item = u64>,
    ) {
        for sequence in messages {
            tracker.deliver(point, sequence, false);
        }
    }

    fn missing(missing: u64) -> Shortfall {
        Shortfall { missing, ..Shortfall::default() }
    }

    #[test]
    fn all_that_arrives_is_fine() {
        let mut tracker = SequenceTracker::new(2);
        for sequence in 0..1000 {
            // The delivery may be seen before the confirm.
            assert_eq!(tracker.deliver(QUEUE, sequence, false), Delivery::Fine);
            tracker.accept(sequence);
        }
        assert_eq!((tracker.shortfall(false), tracker.accepted_count()), (missing(0), 1000));
        assert_eq!(tracker.shortfall_at(0, false), Some(missing(0)));
        assert_eq!(tracker.shortfall_at(1, false), None);
    }

    #[test]
    fn what_does_not_arrive_is_missing_however_long_ago_it_was() {
        let mut tracker = SequenceTracker::new(2);
        for sequence in 0..10_000 {
            tracker.accept(sequence);
            if sequence % 1000 != 7 && sequence != 9_999 {
                tracker.deliver(QUEUE, sequence, false);
            }
        }
        assert_eq!(tracker.shortfall(false), missing(11));
        assert_eq!(tracker.shortfall_at(0, false), Some(missing(11)));
    }

    #[test]
    fn a_second_delivery_is_a_duplicate_unless_it_is_marked() {
        let mut tracker = tracker_of(10);
        let first = tracker.deliver(QUEUE, 3, false);
        assert_eq!((first, tracker.deliver(QUEUE, 3, true)), (Delivery::Fine, Delivery::Fine));
        assert_eq!(tracker.deliver(OTHER, 3, false), Delivery::Fine, "another queue has its own");
        let duplicate = |republished| Delivery::Duplicate { republished };
        assert_eq!(tracker.deliver(QUEUE, 3, false), duplicate(false));
        tracker.republish(3);
        assert_eq!(tracker.deliver(QUEUE, 3, false), duplicate(true));
        // Two threads may tell of a message in the wrong order.
        tracker.deliver(QUEUE, 4, true);
        assert_eq!(tracker.deliver(QUEUE, 4, false), Delivery::Fine);
    }

    #[test]
    fn a_backlog_deeper_than_the_window_is_not_guessed() {
        let mut tracker = tracker_of(1000);
        for sequence in 0..990 {
            // The window begins with the row that has 896.
            let expected = if sequence < 896 { Delivery::Unchecked } else { Delivery::Fine };
            assert_eq!(tracker.deliver(QUEUE, sequence, false), expected, "{sequence}");
        }
        assert_eq!(tracker.shortfall(false), Shortfall { missing: 10, tail: 0, unjudged: 896 });
        // Deliveries that never come are certain, although nobody knows which.
        let mut tracker = tracker_of(1000);
        receive(&mut tracker, QUEUE, 96..1000);
        assert_eq!(tracker.shortfall(false), Shortfall { missing: 96, tail: 0, unjudged: 800 });
    }

    #[test]
    fn every_queue_is_owed_its_own_copy() {
        let mut tracker = tracker_of(100);
        receive(&mut tracker, QUEUE, 0..100);
        receive(&mut tracker, OTHER, 0..90);
        assert_eq!(tracker.shortfall(false), missing(0));
        assert_eq!(tracker.shortfall_at(1, false), Some(missing(10)));
    }

    #[test]
    fn what_was_refused_returned_or_lost_on_the_way_is_not_missing() {
        let mut tracker = SequenceTracker::new(2);
        tracker.accept(0);
        tracker.take_back(0);
        tracker.deliver(QUEUE, 5, false);
        assert_eq!(tracker.shortfall(false), missing(0), "1 to 4 were never accepted");
        let mut tracker = tracker_of(20);
        tracker.doubt_before(12);
        assert_eq!(tracker.shortfall(false), Shortfall { missing: 8, tail: 0, unjudged: 12 });
    }

    #[test]
    fn a_stream_is_read_from_where_it_is_joined() {
        let stream = DeliveryPoint { queue: 0, consumer: Some(1), joins_late: true };
        let mut tracker = tracker_of(100);
        receive(&mut tracker, stream, (10..50).filter(|sequence| *sequence != 20));
        let expected = Shortfall { missing: 1, tail: 50, unjudged: 0 };
        assert_eq!((tracker.shortfall_at(0, true), tracker.unjudged()), (Some(expected), 10));
        tracker.resubscribe(0, 1);
        tracker.deliver(stream, 60, false);
        assert_eq!(tracker.unjudged(), 20, "nobody was there for 50 to 59");
        assert_eq!(tracker.shortfall_at(0, true).unwrap().missing, 1);
    }

    #[test]
    fn a_stream_that_is_read_again_has_no_duplicates() {
        let stream = DeliveryPoint { queue: 0, consumer: Some(1), joins_late: false };
        let mut tracker = tracker_of(100);
        receive(&mut tracker, stream, 0..50);
        tracker.resubscribe(0, 1);
        assert_eq!(tracker.deliver(stream, 0, false), Delivery::ReadAgain);
        assert_eq!(tracker.deliver(stream, 50, false), Delivery::Fine);
        assert_eq!(tracker.deliver(stream, 50, false), Delivery::Duplicate { republished: false });
    }
}
