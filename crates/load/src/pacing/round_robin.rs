//! The sending order of the publishers or callers of one connection.

use std::collections::VecDeque;

use rabbitscope_timing::RunInstant;

use super::due_queue::DueQueue;

/// Publishers or callers of one connection, by their index on it. A queue has those that may have something to send,
/// and a heap has those that wait for a time. Members without work cost nothing.
#[derive(Debug)]
pub(crate) struct RoundRobin {
    ready: VecDeque<u32>,
    is_ready: Vec<bool>,
    waiting: DueQueue,
}

impl RoundRobin {
    pub(crate) fn new(members: usize) -> Self {
        Self {
            ready: VecDeque::with_capacity(members),
            is_ready: vec![false; members],
            waiting: DueQueue::new(members),
        }
    }

    /// Queues `member` after the others, unless it is already queued.
    #[inline]
    pub(crate) fn enqueue(&mut self, member: usize) {
        if !std::mem::replace(&mut self.is_ready[member], true) {
            self.ready.push_back(number(member));
        }
    }

    /// Queues `member` before the others.
    #[inline]
    pub(crate) fn enqueue_first(&mut self, member: usize) {
        if !std::mem::replace(&mut self.is_ready[member], true) {
            self.ready.push_front(number(member));
        }
    }

    /// Queues `member` at `due`.
    pub(crate) fn enqueue_at(&mut self, member: usize, due: RunInstant) {
        if !self.is_ready[member] {
            self.waiting.put(member, due);
        }
    }

    /// Queues all members with a due time up to `until`.
    #[inline]
    pub(crate) fn advance(&mut self, until: RunInstant) {
        while let Some(member) = self.waiting.take(until) {
            self.enqueue(member);
        }
    }

    /// Takes the first member of the queue.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        let member = self.ready.pop_front()? as usize;
        self.is_ready[member] = false;
        Some(member)
    }

    /// Returns whether the queue is not empty.
    #[inline]
    pub(crate) fn is_anybody_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Returns the earliest due time of a waiting member.
    pub(crate) fn first_due(&self) -> Option<RunInstant> {
        self.waiting.first()
    }
}

fn number(member: usize) -> u32 {
    u32::try_from(member).expect("a connection has fewer than 2^32 members")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> RunInstant {
        RunInstant::from_nanos(nanos)
    }

    fn all(round_robin: &mut RoundRobin) -> Vec<usize> {
        std::iter::from_fn(|| round_robin.next()).collect()
    }

    #[test]
    fn each_has_one_turn_in_the_order_of_asking() {
        let mut round_robin = RoundRobin::new(4);
        for member in [2, 0, 2, 3] {
            round_robin.enqueue(member);
        }
        assert_eq!(round_robin.next(), Some(2));
        round_robin.enqueue(2);
        assert_eq!(round_robin.next(), Some(0));
        round_robin.enqueue_first(0);
        assert_eq!(all(&mut round_robin), [0, 3, 2]);
        assert!(!round_robin.is_anybody_ready());
    }

    #[test]
    fn whoever_waits_for_a_time_has_no_turn_before() {
        let mut round_robin = RoundRobin::new(3);
        for (member, due) in [(0, 30), (1, 10), (2, 20), (1, 40)] {
            round_robin.enqueue_at(member, at(due));
        }
        assert_eq!((round_robin.next(), round_robin.first_due()), (None, Some(at(10))));
        round_robin.advance(at(20));
        assert_eq!(all(&mut round_robin), [1, 2]);
        round_robin.advance(at(40));
        assert_eq!(all(&mut round_robin), [0]);
    }
}
