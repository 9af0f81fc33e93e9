//! A priority queue of members, ordered by the time at which each is due.

use std::{cmp::Reverse, collections::BinaryHeap};

/// A binary heap of due times, at most one for each member. Times are nanoseconds since the run
/// began.
#[derive(Debug)]
pub(crate) struct DueQueue {
    due: BinaryHeap<Reverse<(u64, usize)>>,
    /// The valid entry of each member; other entries of it in the heap are stale.
    armed: Vec<Option<u64>>,
}

impl DueQueue {
    pub(crate) fn new(connections: usize) -> Self {
        Self { due: BinaryHeap::new(), armed: vec![None; connections] }
    }

    /// Adds `member` with `due`, unless it has an earlier time already.
    pub(crate) fn put(&mut self, connection: usize, due: u64) {
        if self.armed[connection].is_none_or(|armed| due < armed) {
            self.armed[connection] = Some(due);
            self.due.push(Reverse((due, connection)));
        }
    }

    /// The earliest due time.
    pub(crate) fn first(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((due, _))| *due)
    }

    /// Removes the first member if it is due at `now`.
    pub(crate) fn take(&mut self, now: u64) -> Option<usize> {
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

    #[test]
    fn each_connection_is_taken_once_at_its_earliest_time() {
        let mut due_queue = DueQueue::new(3);
        for (connection, due) in [(0, 50), (1, 20), (0, 10), (0, 30), (2, 20)] {
            due_queue.put(connection, due);
        }
        let mut taken = Vec::new();
        for now in [9, 10, 20, 60] {
            while let Some(connection) = due_queue.take(now) {
                taken.push((now, connection));
            }
        }
        assert_eq!(taken, [(10, 0), (20, 1), (20, 2)]);
        assert_eq!(due_queue.first(), None);
        due_queue.put(0, 70);
        assert_eq!(due_queue.take(70), Some(0));
    }
}
