//! The coordinator's data for each worker.

use std::sync::mpsc::Sender;

use rabbitscope_measurements::{ObservationRecorder, ObservationSettings, Report, SharedState};
use rabbitscope_timing::RunInstant;
use rabbitscope_topology::TokenFile;

use crate::{connect::Reconnector, context::RunSettings};

/// The run as its workers see it.
pub(crate) struct WorkerContext<'a> {
    pub(crate) run: RunSettings,
    /// End of the load.
    pub(crate) end: RunInstant,
    pub(crate) shared: &'a SharedState,
    pub(crate) reports: Sender<Report>,
    /// Replaces lost connections. If absent, the first loss ends the run.
    pub(crate) reconnector: Option<&'a Reconnector<'a>>,
    /// The token that logs in, if one does. It may be replaced.
    pub(crate) token: Option<&'a TokenFile>,
    /// True if consumers go on after the load until the queues are empty.
    pub(crate) awaits_empty: bool,
    /// True if every delivered message of this run carries its stamp.
    pub(crate) knows_own: bool,
    /// The kinds of observations that are recorded; absent if none are.
    pub(crate) observations: Option<ObservationSettings>,
}

impl WorkerContext<'_> {
    /// Returns the current time of the run.
    pub(crate) fn now(&self) -> RunInstant {
        self.run.clock.now()
    }

    /// Waits for the beginning of the run, which all processes share, or for its end if that comes first. Records how
    /// late this thread started.
    pub(crate) fn wait_for_start(&self) {
        self.run.clock.wait_for_origin(&self.shared.abort);
        self.shared.note_start(self.now());
    }

    /// Creates the recorder of one thread; absent if no observations are recorded.
    pub(crate) fn recorder(&self) -> Option<ObservationRecorder> {
        Some(ObservationRecorder::new(self.observations.clone()?, self.reports.clone()))
    }
}
