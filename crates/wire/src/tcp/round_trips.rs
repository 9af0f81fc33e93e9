//! Segments that wait for their acknowledgement, for round trips.
//!
//! A segment is timed under three conditions: its end is acknowledged exactly, it was sent once, and nothing before it
//! was retransmitted since. Otherwise the time says more about the loss than about the path (Karn and Partridge, 1987;
//! tcptrace).

use std::{collections::VecDeque, time::Duration};

use super::{limits::Budgets, sequence::Place};
use crate::packet::Timestamp;

/// Number of segments whose memory is kept when it is not needed.
const KEPT_ROOM: usize = 256;

/// Maximum of segments that an insertion moves. A segment out of order goes among the last ones only.
const MAX_MOVED: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Sent {
    start: Place,
    end: Place,
    time: Timestamp,
    is_resent: bool,
}

/// The unacknowledged segments of a direction, with SYN and FIN counted as bytes. No two overlap.
#[derive(Debug, Default)]
pub(super) struct Unacknowledged {
    sent: VecDeque<Sent>,
    /// Latest send time of the acknowledged segments.
    latest: Timestamp,
    /// Segments that are missing here because there were too many.
    not_timed: u64,
}

impl Unacknowledged {
    pub(super) const fn not_timed(&self) -> u64 {
        self.not_timed
    }

    /// Records a segment.
    pub(super) fn sent(
        &mut self,
        start: Place,
        end: Place,
        time: Timestamp,
        budgets: &mut Budgets,
    ) {
        let newest = self.sent.back().map_or(Place::MIN, |sent| sent.end);
        if start < newest {
            self.sent_again(start, end, time);
        }
        if end > newest {
            self.push(Sent { start: start.max(newest), end, time, is_resent: false }, budgets);
        } else if self.is_between(start, end) {
            self.insert(Sent { start, end, time, is_resent: false }, budgets);
        }
    }

    /// Records the retransmission of an acknowledged segment.
    pub(super) fn sent_acknowledged(&mut self, time: Timestamp) {
        self.latest = self.latest.max(time);
    }

    /// Records that everything before a place is acknowledged. Returns the round trip that this ends.
    pub(super) fn acknowledged(
        &mut self,
        place: Place,
        time: Timestamp,
        budgets: &mut Budgets,
    ) -> Option<Duration> {
        let mut last = None;
        while let Some(sent) = self.sent.front().filter(|sent| sent.end <= place) {
            self.latest = self.latest.max(sent.time);
            last = Some(*sent);
            self.sent.pop_front();
            budgets.timed_segments.give_back(1);
        }
        self.give_room_back();
        let exact = last.filter(|sent| sent.end == place && !sent.is_resent);
        exact.filter(|sent| sent.time >= self.latest).map(|sent| time.since(sent.time))
    }

    /// Removes all segments.
    pub(super) fn clear(&mut self, budgets: &mut Budgets) {
        budgets.timed_segments.give_back(self.sent.len());
        self.sent.clear();
    }

    fn push(&mut self, sent: Sent, budgets: &mut Budgets) {
        if self.may_take(budgets) {
            budgets.timed_segments.take(1);
            self.sent.push_back(sent);
        }
    }

    fn insert(&mut self, sent: Sent, budgets: &mut Budgets) {
        let at = self.sent.partition_point(|other| other.end <= sent.start);
        if self.sent.len() - at <= MAX_MOVED && self.may_take(budgets) {
            budgets.timed_segments.take(1);
            self.sent.insert(at, sent);
        }
    }

    fn may_take(&mut self, budgets: &Budgets) -> bool {
        let may =
            self.sent.len() < budgets.limits.timed_segments && !budgets.timed_segments.is_used_up();
        self.not_timed += u64::from(!may);
        may
    }

    fn sent_again(&mut self, start: Place, end: Place, time: Timestamp) {
        let first = self.sent.partition_point(|sent| sent.end <= start);
        for sent in self.sent.iter_mut().skip(first).take_while(|sent| sent.start < end) {
            sent.is_resent = true;
            sent.time = time;
        }
    }

    /// Returns whether a segment fills a hole between two others.
    fn is_between(&self, start: Place, end: Place) -> bool {
        let at = self.sent.partition_point(|sent| sent.end <= start);
        self.sent.get(at).is_some_and(|sent| sent.start >= end)
    }

    /// Releases memory, so that a direction that once had much in flight does not keep it for ever.
    fn give_room_back(&mut self) {
        let room = self.sent.capacity();
        if room > KEPT_ROOM && self.sent.len() < room / 4 {
            self.sent.shrink_to(room / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::limits::Limits;

    enum Step {
        /// Start, end, and time in milliseconds.
        Sent(Place, Place, u64),
        /// Place, time, and the expected round trip in milliseconds.
        Acknowledged(Place, u64, Option<u64>),
    }
    use Step::{Acknowledged, Sent};

    #[track_caller]
    fn check(steps: &[Step]) {
        let mut budgets = Budgets::new(Limits { timed_segments: 3, ..Limits::default() });
        let mut unacknowledged = Unacknowledged::default();
        let at = |millis: u64| Timestamp::from_unix_nanos(millis * 1_000_000);
        for step in steps {
            match *step {
                Sent(start, end, when) => {
                    unacknowledged.sent(start, end, at(when), &mut budgets);
                }
                Acknowledged(place, when, expected) => {
                    let found = unacknowledged.acknowledged(place, at(when), &mut budgets);
                    assert_eq!(found, expected.map(Duration::from_millis));
                }
            }
        }
    }

    #[test]
    fn round_trips_of_what_is_acknowledged_exactly() {
        let sent = [Sent(-1, 0, 1), Acknowledged(0, 4, Some(3)), Sent(0, 10, 5), Sent(10, 20, 6)];
        let after = |steps: Vec<Step>| check(&sent.into_iter().chain(steps).collect::<Vec<_>>());
        after(vec![Acknowledged(20, 8, Some(2)), Acknowledged(20, 9, None)]);
    }

    #[test]
    fn no_round_trip_of_a_part_or_of_what_was_sent_again() {
        // Only a part is acknowledged.
        check(&[Sent(0, 10, 1), Acknowledged(5, 2, None), Acknowledged(10, 3, Some(2))]);
        // Sent twice.
        check(&[Sent(0, 10, 1), Sent(0, 10, 2), Acknowledged(10, 3, None)]);
        // Something earlier was retransmitted after it.
        check(&[Sent(0, 10, 1), Sent(10, 20, 2), Sent(0, 10, 3), Acknowledged(20, 4, None)]);
        // Something earlier was retransmitted before it.
        check(&[Sent(0, 10, 1), Sent(0, 10, 2), Sent(10, 20, 3), Acknowledged(20, 5, Some(2))]);
        // New bytes together with old ones.
        check(&[Sent(0, 10, 1), Sent(0, 20, 2), Acknowledged(20, 5, Some(3))]);
    }

    #[test]
    fn what_fills_a_hole_is_put_where_it_belongs() {
        check(&[Sent(0, 10, 1), Sent(20, 30, 2), Sent(10, 20, 3), Acknowledged(20, 5, Some(2))]);
        check(&[Sent(0, 10, 1), Sent(20, 30, 2), Sent(10, 20, 3), Acknowledged(30, 5, None)]);
    }

    #[test]
    fn no_round_trip_of_what_came_before_something_earlier() {
        let sent = [Sent(10, 20, 1), Sent(20, 30, 2), Sent(0, 10, 3)];
        let acknowledged = [Acknowledged(10, 4, Some(1)), Acknowledged(20, 5, None)];
        check(&sent.into_iter().chain(acknowledged).collect::<Vec<_>>());
    }

    #[test]
    fn there_are_not_more_than_may_be() {
        let mut budgets = Budgets::new(Limits { timed_segments: 3, ..Limits::default() });
        let mut unacknowledged = Unacknowledged::default();
        for start in 0..5 {
            unacknowledged.sent(start, start + 1, Timestamp::default(), &mut budgets);
        }
        assert_eq!(unacknowledged.not_timed(), 2);
        unacknowledged.acknowledged(5, Timestamp::default(), &mut budgets);
        unacknowledged.clear(&mut budgets);
        let mut budgets = Budgets::new(Limits { timed_segments_in_total: 0, ..Limits::default() });
        unacknowledged.sent(5, 6, Timestamp::default(), &mut budgets);
        assert_eq!(unacknowledged.not_timed(), 3);
    }
}
