//! What the coordinator gives to each worker.

use std::sync::mpsc::Sender;

use crate::{
    clock::RunInstant,
    connect::Reconnector,
    context::{RunSettings, SharedState},
    report::{ObservationRecorder, ObservationSettings, Report},
};

/// The run as its workers see it.
pub(crate) struct WorkerContext<'a> {
    pub(crate) run: RunSettings,
    /// End of the load.
    pub(crate) end: RunInstant,
    pub(crate) shared: &'a SharedState,
    pub(crate) reports: Sender<Report>,
    /// Makes lost connections again; absent: the first loss ends the run.
    pub(crate) reconnector: Option<&'a Reconnector<'a>>,
    /// Consumers go on after the load until the queues are empty.
    pub(crate) awaits_empty: bool,
    /// Every message of this run that is delivered carries its stamp.
    pub(crate) knows_own: bool,
    /// Which observations of messages are recorded; absent: none.
    pub(crate) observations: Option<ObservationSettings>,
}

impl WorkerContext<'_> {
    /// The time that it is.
    pub(crate) fn now(&self) -> RunInstant {
        self.run.clock.now()
    }

    /// Waits for the beginning of the run, which other processes have at the same time, or for its end if that is before,
    /// and notes how late it was.
    pub(crate) fn wait_for_start(&self) {
        self.run.clock.wait_for_origin(&self.shared.abort);
        self.shared.note_start(self.now());
    }

    /// The recorder of one thread; absent when no observations are recorded.
    pub(crate) fn recorder(&self) -> Option<ObservationRecorder> {
        Some(ObservationRecorder::new(self.observations.clone()?, self.reports.clone()))
    }
}
