//! What a worker is told, and what it tells.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc::Sender,
};

use crate::{
    clock::RunClock,
    connector::Connector,
    link::{Failure, Moment},
    self_check::{Crew, ThreadSecond},
    service::ServiceMonitor,
    stamp::Numbering,
    tally::Tally,
    verify::{Observation, Watch, Witness},
};

/// What a run is for its workers.
pub(crate) struct Orders<'a> {
    pub(crate) clock: RunClock,
    pub(crate) mark: u16,
    pub(crate) numbering: Numbering,
    /// End of the load in nanoseconds since the run began.
    pub(crate) end: u64,
    pub(crate) control: &'a Control,
    pub(crate) reports: Sender<Report>,
    /// Makes lost connections again; absent: the first loss ends the run.
    pub(crate) connector: Option<&'a Connector<'a>>,
    /// Consumers go on after the load until the queues are empty.
    pub(crate) awaits_empty: bool,
    /// Somebody of this run measures what is delivered.
    pub(crate) is_consumed: bool,
    /// Every message of this run that is delivered carries its stamp.
    pub(crate) knows_own: bool,
    /// What is to be seen of messages; absent: nothing.
    pub(crate) watch: Option<Watch>,
}

impl Orders<'_> {
    /// For one thread, if anything is to be seen.
    pub(crate) fn witness(&self) -> Option<Witness> {
        Some(Witness::new(self.watch.clone()?, self.reports.clone()))
    }
}

/// What the threads of a run share.
#[derive(Debug, Default)]
pub(crate) struct Control {
    /// The load ends; what is outstanding is awaited.
    pub(crate) ending: AtomicBool,
    /// The load ends at once.
    pub(crate) abort: AtomicBool,
    /// Publishers that have sent all their messages.
    pub(crate) publishers_done: AtomicUsize,
    /// Consumers that have received all their messages.
    pub(crate) consumers_done: AtomicUsize,
    /// Callers that have had all their replies.
    pub(crate) callers_done: AtomicUsize,
    /// Slots of churn that have closed their last one.
    pub(crate) churners_done: AtomicUsize,
    /// Threads that await confirms; consumers go on while there are any.
    pub(crate) confirming: AtomicUsize,
    /// Load threads that have stopped publishing.
    pub(crate) draining: AtomicUsize,
    /// Whoever waits for empty queues need not any longer.
    pub(crate) is_empty: AtomicBool,
    /// What has become of connections.
    pub(crate) service: Arc<ServiceMonitor>,
    /// Every thread is done.
    pub(crate) is_over: AtomicBool,
}

impl Control {
    /// Adds who has come to an end in this moment.
    pub(crate) fn count_done(&self, moment: &Moment<'_>) {
        let counts = [
            (&self.publishers_done, moment.publishers_done),
            (&self.consumers_done, moment.consumers_done),
            (&self.callers_done, moment.callers_done),
            (&self.churners_done, moment.churners_done),
        ];
        for (sum, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
    }
}

/// What a worker reports.
pub(crate) enum Report {
    /// An interval is over.
    Part(Box<Part>),
    /// What became of messages, for `run.verify`.
    Seen(Vec<Observation>),
    /// The run does not end as the scenario says, for this reason.
    CutShort(String),
    /// A connection cannot go on.
    Failed(Failure),
    /// The thread is done.
    Done,
}

/// What one worker counted in one interval.
pub(crate) struct Part {
    pub(crate) worker: usize,
    pub(crate) second: u32,
    /// Nanoseconds since the run began.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) draining: bool,
    /// Nothing follows from this worker.
    pub(crate) is_last: bool,
    pub(crate) tally: Tally,
    pub(crate) crew: Crew,
}

impl Part {
    pub(crate) fn thread_second(&self) -> ThreadSecond {
        ThreadSecond::new(self.end.saturating_sub(self.start), &self.tally.counts, self.crew)
    }
}
