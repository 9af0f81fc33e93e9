//! What a process that puts a part of a run on the broker is told, and whom it tells.

use std::time::Instant;

use crate::outcome::Progress;

/// Whoever has given this process its part.
pub trait PartHost {
    /// Connections are being made.
    fn progress(&mut self, progress: Progress<'_>);

    /// All connections are up. Returns after a second at most: with the start, or without it to be called again.
    fn wait_for_start(&mut self, size: PartSize) -> Option<PartStart>;

    /// The load began so many nanoseconds after its time.
    fn started(&mut self, late_nanos: u64);

    /// Hands an update on; see [`crate::Session::run_remote`].
    fn send(&mut self, update: Vec<u8>);

    /// What is wanted of the load by now.
    fn wishes(&mut self) -> PartWishes;
}

/// How large a part is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartSize {
    /// Threads that own connections.
    pub load_threads: usize,
    /// Groups that open and close connections; each reports as a thread.
    pub churn_groups: usize,
    /// Connections that are up.
    pub connections: usize,
}

impl PartSize {
    /// Larger ones are of no scenario. Chosen: a thread for each of the CPUs of the largest machine, more groups than
    /// anybody writes down, and more connections than there are ports.
    const MOST: Self = Self { load_threads: 4096, churn_groups: 10_000, connections: 1 << 24 };

    /// Whether a process can have such a part; another process says how large its part is.
    pub fn is_possible(&self) -> bool {
        (1..=Self::MOST.load_threads).contains(&self.load_threads)
            && self.churn_groups <= Self::MOST.churn_groups
            && self.connections <= Self::MOST.connections
    }

    /// Everything that reports as a thread.
    pub fn threads(&self) -> usize {
        self.load_threads + self.churn_groups
    }
}

/// When a part starts.
#[derive(Clone, Copy, Debug)]
pub struct PartStart {
    /// The beginning of the run, on the clock of this process.
    pub origin: Instant,
    /// Of the run, in the stamps of its messages.
    pub run_tag: u16,
}

/// What is wanted of the load. What was wanted once is wanted from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags that threads look at, as in the shared state of a run"
)]
pub struct PartWishes {
    /// The load ends; what is outstanding is awaited.
    pub ending: bool,
    /// The load ends at once.
    pub abort: bool,
    /// The queues are empty, or nobody waits for that any longer.
    pub is_empty: bool,
    /// No other process awaits confirms: what is not delivered by now will not be.
    pub others_confirmed: bool,
}

impl PartWishes {
    /// All that either wants.
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
