//! A priority queue of members, ordered by due time.

use std::{cmp::Reverse, collections::BinaryHeap};

use rabbitscope_timing::RunInstant;

/// A binary heap of due times, at most one per member.
#[derive(Debug)]
pub(crate) struct DueQueue {
    due: BinaryHeap<Reverse<(RunInstant, usize)>>,
    /// The valid entry of each member. Other entries of the member in the heap are stale.
    armed: Vec<Option<RunInstant>>,
}

impl DueQueue {
    pub(crate) fn new(connections: usize) -> Self {
        Self { due: BinaryHeap::new(), armed: vec![None; connections] }
    }

    /// Adds `member` with `due`, unless it already has an earlier time.
    pub(crate) fn put(&mut self, connection: usize, due: RunInstant) {
        if self.armed[connection].is_none_or(|armed| due < armed) {
            self.armed[connection] = Some(due);
            self.due.push(Reverse((due, connection)));
        }
    }

    /// Returns the earliest due time.
    pub(crate) fn first(&self) -> Option<RunInstant> {
        self.due.peek().map(|Reverse((due, _))| *due)
    }

    /// Removes the first member if it is due at `now`.
    pub(crate) fn take(&mut self, now: RunInstant) -> Option<usize> {
        while self.first()? <= now {
            let Reverse((due, connection)) = self.due.pop()?;
            if self.armed[connection].take_if(|armed| *armed == due).is_some() {
                return Some(connection);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> RunInstant {
        RunInstant::from_nanos(nanos)
    }

    #[test]
    fn each_connection_is_taken_once_at_its_earliest_time() {
        let mut due_queue = DueQueue::new(3);
        for (connection, due) in [(0, 50), (1, 20), (0, 10), (0, 30), (2, 20)] {
            due_queue.put(connection, at(due));
        }
        let mut taken = Vec::new();
        for now in [9, 10, 20, 60] {
            while let Some(connection) = due_queue.take(at(now)) {
                taken.push((now, connection));
            }
        }
        assert_eq!(taken, [(10, 0), (20, 1), (20, 2)]);
        assert_eq!(due_queue.first(), None);
        due_queue.put(0, at(70));
        assert_eq!(due_queue.take(at(70)), Some(0));
    }
}
