//! Scheduled tasks of consumers: starts, polls, ends of processing times.

use std::{cmp::Reverse, collections::BinaryHeap};

use rabbitscope_timing::RunInstant;

/// A scheduled task of the consumer with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::link) enum Task {
    Start(usize),
    Poll(usize),
    /// Processes the message that the consumer has held for longest.
    Process(usize),
}

/// The tasks of the consumers of a connection, in the order of their times.
#[derive(Debug, Default)]
pub(in crate::link) struct Tasks(BinaryHeap<Reverse<(RunInstant, Task)>>);

impl Tasks {
    /// Schedules a task.
    #[inline]
    pub(in crate::link) fn push(&mut self, due: RunInstant, task: Task) {
        self.0.push(Reverse((due, task)));
    }

    /// Returns the time of the first task.
    #[inline]
    pub(in crate::link) fn next_due(&self) -> Option<RunInstant> {
        self.0.peek().map(|Reverse((due, _))| *due)
    }

    /// Removes the first task if it is due.
    #[inline]
    pub(in crate::link) fn take(&mut self, now: RunInstant) -> Option<Task> {
        self.next_due().filter(|due| *due <= now)?;
        self.0.pop().map(|Reverse((_, task))| task)
    }

    /// Drops all tasks.
    pub(in crate::link) fn clear(&mut self) {
        self.0.clear();
    }
}
