//! The seconds of a run: reports from the load, completed by figures of the machine and the pollers, and passed on to
//! the watchers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    time::Instant,
};

use rabbitscope_analysis::FailureWatch;
use rabbitscope_artifacts::{rundir::SeriesFile, salvage::Unwritten};
use rabbitscope_measurements::Progress;
use rabbitscope_polling::{Page, PollOutcome, Pollers};
use rabbitscope_runs::{
    record::{Loss, SecondRow},
    scenario::Scenario,
};
use rabbitscope_topology::QueueDepths;

use super::nodes::{LatestFigures, NodeSum, NodesUsage};
use crate::progress::Watchers;

/// Receives the reports of the load while it runs, completes them and passes them on.
pub(super) struct Seconds {
    nodes: NodesUsage,
    /// Figures from inside the node.
    inside: LatestFigures,
    /// Pages that the pollers request from the first message on.
    pages: Vec<Page>,
    pollers: Option<Pollers>,
    depths: Option<QueueDepths>,
    series: SeriesFile,
    started: Vec<Sender<Instant>>,
    watchers: Watchers,
    stop: Arc<AtomicBool>,
    /// The first failure to write the series.
    failure: anyhow::Result<()>,
    /// Ends the load when a limit fails for good; absent unless the scenario asks for it.
    limits: Option<FailureWatch>,
    /// Description of the limit that failed.
    failed: Option<String>,
}

/// The seconds after the end of the load.
pub(super) struct RecordedSeconds {
    pub(super) series: SeriesFile,
    pub(super) polls: PollOutcome,
    /// Gaps in the figures of the nodes.
    pub(super) loss: Option<Loss>,
    /// The reason why no second has figures from inside the node.
    pub(super) no_node_figures: Option<String>,
    /// Usage of each node, by pid.
    pub(super) nodes: Vec<(u32, NodeSum)>,
    /// Results that could not be written.
    pub(super) unwritten: Unwritten,
    /// The write error that ended the load.
    pub(super) cut_short: Option<String>,
    /// The limit that failed for good and so ended the load.
    pub(super) failed: Option<String>,
}

impl Seconds {
    /// Creates the seconds. The first are the broker's nodes on this machine, from outside and from inside. `stop` is set if the series cannot be
    /// written, because later seconds would be lost.
    pub(super) fn new(
        (nodes, inside): (NodesUsage, LatestFigures),
        series: SeriesFile,
        pages: Vec<Page>,
        watchers: Watchers,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            nodes,
            inside,
            pages,
            pollers: None,
            depths: None,
            series,
            started: Vec::new(),
            watchers,
            stop,
            failure: Ok(()),
            limits: None,
            failed: None,
        }
    }

    /// Registers a receiver for the instant just before the first message.
    pub(super) fn tell_start(&mut self, started: Sender<Instant>) {
        self.started.push(started);
    }

    /// Sets the source of the number of messages that wait in the queues.
    pub(super) fn ask_depths(&mut self, depths: Option<QueueDepths>) {
        self.depths = depths;
    }

    /// Ends the load as soon as a limit of this scenario fails for good, if it asks for that.
    pub(super) fn stop_on_failure_of(&mut self, scenario: &Scenario) {
        self.limits = scenario.run.stop_on_failure.then(|| FailureWatch::from_scenario(scenario));
    }

    pub(super) fn take(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Started { .. } => self.start(),
            Progress::Connecting { done, of } => self.watchers.connecting(done, of),
            Progress::Notice(text) => self.watchers.notice(text),
            Progress::Latency { name, histogram } => {
                self.watchers.latency(name, histogram);
                if let Some(limits) = &mut self.limits {
                    let recorded = histogram.iter_recorded();
                    limits.latency(
                        name,
                        recorded
                            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())),
                    );
                }
            }
            Progress::Second(row) => self.second(row.clone()),
            _ => {}
        }
    }

    fn start(&mut self) {
        self.nodes.begin();
        let now = Instant::now();
        for started in self.started.drain(..) {
            let _ = started.send(now);
        }
        if !self.pages.is_empty() {
            self.pollers = Some(Pollers::start(std::mem::take(&mut self.pages)));
        }
        self.watchers.started();
    }

    fn second(&mut self, mut row: SecondRow) {
        let usage = self.nodes.lap(!row.draining);
        row.local_broker_cores = usage.map(|usage| usage.cpu_cores);
        let usage = usage.filter(|_| self.nodes.is_whole());
        row.broker_cpu_cores = usage.map(|usage| usage.cpu_cores);
        row.broker_rss_bytes = usage.map(|usage| usage.rss_bytes);
        row.node = self.inside.take();
        row.queue_messages = self.depths.as_ref().and_then(QueueDepths::messages);
        row.polls =
            self.pollers.as_mut().map(|pollers| pollers.lap(row.warming)).unwrap_or_default();
        self.watchers.second(&row);
        self.look_for_failure(&row);
        let written = self.series.push(row);
        if self.failure.is_ok() && written.is_err() {
            self.failure = written;
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Stops the load if a limit failed for good. A draining load needs no stop.
    fn look_for_failure(&mut self, row: &SecondRow) {
        let Some(limits) = self.limits.as_mut().filter(|_| !row.draining) else { return };
        if self.failed.is_none()
            && let Some(reason) = limits.second(row)
        {
            self.failed = Some(reason);
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn finish(mut self) -> RecordedSeconds {
        let polls = self.pollers.take().map(Pollers::finish).unwrap_or_default();
        let mut unwritten = self.watchers.finish();
        let cut_short = self.failure.as_ref().err().map(|error| format!("{error:#}"));
        unwritten.note("the rest of series.jsonl", self.failure);
        RecordedSeconds {
            loss: self.nodes.loss(),
            no_node_figures: self.inside.reason_without(),
            nodes: self.nodes.of_nodes(),
            series: self.series,
            polls,
            unwritten,
            cut_short,
            failed: self.failed,
        }
    }
}
