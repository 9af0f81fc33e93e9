//! The load's end of the mailbox.

use std::time::Duration;

use rabbitscope_measurements::{PartHost, PartSize, PartStart, PartWishes, Progress};

use super::mailbox::Mailbox;
use crate::{clocks::instant_at, protocol::WorkerState};

/// Wait for the start before the load services its connections again.
const START_WAIT: Duration = Duration::from_millis(500);

/// Passes the events of a part of a run to the mailbox.
pub(super) struct Host<'a> {
    pub(super) mailbox: &'a Mailbox,
    pub(super) run: &'a str,
    /// Delay of the load's start.
    pub(super) late_nanos: u64,
    /// Number of updates so far.
    pub(super) updates: u64,
}

impl PartHost for Host<'_> {
    fn progress(&mut self, progress: Progress<'_>) {
        if let Progress::Connecting { done, of } = progress {
            let run = self.run.to_owned();
            self.mailbox.set_state(WorkerState::Connecting { run, done, of });
        }
    }

    fn wait_for_start(&mut self, size: PartSize) -> Option<PartStart> {
        let PartSize { load_threads, churn_groups, connections } = size;
        let run = self.run.to_owned();
        self.mailbox.set_state(WorkerState::Ready { run, load_threads, churn_groups, connections });
        let order = self.mailbox.wait_for_start(self.run, START_WAIT)?;
        Some(PartStart { origin: instant_at(order.origin_nanos), run_tag: order.run_tag })
    }

    fn started(&mut self, late_nanos: u64) {
        self.late_nanos = late_nanos;
        self.mailbox.set_state(WorkerState::Running { run: self.run.to_owned(), late_nanos });
    }

    fn send(&mut self, update: Vec<u8>) {
        self.updates += 1;
        self.mailbox.send(self.run, update);
    }

    fn wishes(&mut self) -> PartWishes {
        self.mailbox.wishes()
    }
}
