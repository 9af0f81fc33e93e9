//! The interface between a process that runs a part of a load and its controller.

use std::time::Instant;

use crate::outcome::Progress;

/// The controller that gave this process its part.
pub trait PartHost {
    /// Reports that connections are being made.
    fn progress(&mut self, progress: Progress<'_>);

    /// Reports that all connections are up, and waits at most a second. Returns the start, or nothing if the caller has
    /// to call again.
    fn wait_for_start(&mut self, size: PartSize) -> Option<PartStart>;

    /// Reports that the load began `late_nanos` nanoseconds after its scheduled time.
    fn started(&mut self, late_nanos: u64);

    /// Sends an update; see `Session::run_remote` in `load`.
    fn send(&mut self, update: Vec<u8>);

    /// Returns the latest wishes for the load.
    fn wishes(&mut self) -> PartWishes;
}

/// Size of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSize {
    /// Threads that own connections.
    pub load_threads: usize,
    /// Groups that open and close connections. Each reports as a thread.
    pub churn_groups: usize,
    /// Connections that are up.
    pub connections: usize,
}

impl PartSize {
    /// Upper limit for any scenario. Chosen: a thread for each CPU of the largest machine, more groups than a person
    /// writes, and more connections than there are ports.
    const MOST: Self = Self { load_threads: 4096, churn_groups: 10_000, connections: 1 << 24 };

    /// Returns whether a process can have such a part. The size comes from another process and needs this check.
    pub fn is_possible(&self) -> bool {
        (1..=Self::MOST.load_threads).contains(&self.load_threads)
            && self.churn_groups <= Self::MOST.churn_groups
            && self.connections <= Self::MOST.connections
    }

    /// Number of threads, including churn groups, which report as threads.
    pub fn threads(&self) -> usize {
        self.load_threads + self.churn_groups
    }
}

/// The start of a part.
#[derive(Clone, Copy, Debug)]
pub struct PartStart {
    /// Beginning of the run on the clock of this process.
    pub origin: Instant,
    /// Tag of the run in the stamps of its messages.
    pub run_tag: u16,
}

/// Wishes for the load. A wish, once set, stays set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags that threads look at, as in the shared state of a run"
)]
pub struct PartWishes {
    /// The load ends and waits for outstanding messages.
    pub ending: bool,
    /// The load ends immediately.
    pub abort: bool,
    /// The queues are empty, or the controller no longer waits for that.
    pub is_empty: bool,
    /// No other process awaits confirms: messages that are still undelivered will not be delivered.
    pub others_confirmed: bool,
}

impl PartWishes {
    /// Combines the wishes of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            ending: self.ending || other.ending,
            abort: self.abort || other.abort,
            is_empty: self.is_empty || other.is_empty,
            others_confirmed: self.others_confirmed || other.others_confirmed,
        }
    }
}
