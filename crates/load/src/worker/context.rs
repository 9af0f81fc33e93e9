//! What the coordinator gives to each worker.

use std::sync::mpsc::Sender;

use crate::{
    clock::RunClock,
    connect::Reconnector,
    context::SharedState,
    message::Numbering,
    report::{ObservationRecorder, ObservationSettings, Report},
};

/// What a run is for its workers.
pub(crate) struct WorkerContext<'a> {
    pub(crate) clock: RunClock,
    pub(crate) run_tag: u16,
    pub(crate) numbering: Numbering,
    /// End of the load in nanoseconds since the run began.
    pub(crate) end: u64,
    pub(crate) shared: &'a SharedState,
    pub(crate) reports: Sender<Report>,
    /// Makes lost connections again; absent: the first loss ends the run.
    pub(crate) reconnector: Option<&'a Reconnector<'a>>,
    /// Consumers go on after the load until the queues are empty.
    pub(crate) awaits_empty: bool,
    /// Somebody of this run measures what is delivered.
    pub(crate) is_consumed: bool,
    /// Every message of this run that is delivered carries its stamp.
    pub(crate) knows_own: bool,
    /// What is to be seen of messages; absent: nothing.
    pub(crate) watch: Option<ObservationSettings>,
}

impl WorkerContext<'_> {
    /// For one thread, if anything is to be seen.
    pub(crate) fn recorder(&self) -> Option<ObservationRecorder> {
        Some(ObservationRecorder::new(self.watch.clone()?, self.reports.clone()))
    }
}
