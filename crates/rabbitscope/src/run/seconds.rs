//! The seconds of a run: what the load tells, what the machine and the pollers add to it, and who is
//! told.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::Sender,
    },
    time::Instant,
};

use rabbitscope_analysis::FailureWatch;
use rabbitscope_load::{Page, PollOutcome, Pollers, Progress, QueueDepths};
use rabbitscope_runs::{
    record::{Loss, SecondRow},
    scenario::Scenario,
};

use super::usage::{NodeSum, NodesUsage};
use crate::{rundir::SeriesFile, salvage::Unwritten, watch::Watchers};

/// Takes what the load tells while it runs, completes it and passes it on.
pub(super) struct Seconds {
    nodes: NodesUsage,
    /// Asked for from the first message on.
    pages: Vec<Page>,
    pollers: Option<Pollers>,
    depths: Option<QueueDepths>,
    series: SeriesFile,
    started: Vec<Sender<Instant>>,
    watchers: Watchers,
    stop: Arc<AtomicBool>,
    /// Of writing the series.
    failure: anyhow::Result<()>,
    /// Ends the load when a limit fails for good; absent when nobody asked for that.
    limits: Option<FailureWatch>,
    /// Which limit that was.
    failed: Option<String>,
}

/// What is left of the seconds when the load has ended.
pub(super) struct RecordedSeconds {
    pub(super) series: SeriesFile,
    pub(super) polls: PollOutcome,
    /// What is missing in the figures of the nodes.
    pub(super) loss: Option<Loss>,
    /// By pid, what each of them used.
    pub(super) nodes: Vec<(u32, NodeSum)>,
    /// What could not be written.
    pub(super) unwritten: Unwritten,
    /// Why that ended the load.
    pub(super) cut_short: Option<String>,
    /// Which limit had failed for good and so ended the load.
    pub(super) failed: Option<String>,
}

impl Seconds {
    /// `nodes` are those of the broker that are on this machine. `stop` is set when the series cannot be written: what
    /// comes later would be lost.
    pub(super) fn new(
        nodes: NodesUsage,
        series: SeriesFile,
        pages: Vec<Page>,
        watchers: Watchers,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            nodes,
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

    /// The first message is about to be sent: says when.
    pub(super) fn tell_start(&mut self, started: Sender<Instant>) {
        self.started.push(started);
    }

    /// Who knows how many messages wait in the queues.
    pub(super) fn ask_depths(&mut self, depths: Option<QueueDepths>) {
        self.depths = depths;
    }

    /// Ends the load as soon as a limit of this scenario fails for good, if it asks for that.
    pub(super) fn stop_on_failure_of(&mut self, scenario: &Scenario) {
        self.limits = scenario.run.stop_on_failure.then(|| FailureWatch::of(scenario));
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
                        recorded.map(|it| (it.value_iterated_to(), it.count_at_value())),
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
        row.queue_messages = self.depths.as_ref().and_then(QueueDepths::messages);
        row.polls = self.pollers.as_mut().map(|it| it.lap(row.warming)).unwrap_or_default();
        self.watchers.second(&row);
        self.look_for_failure(&row);
        let written = self.series.push(row);
        if self.failure.is_ok() && written.is_err() {
            self.failure = written;
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// While the load drains there is nothing to stop any more.
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
            nodes: self.nodes.of_nodes(),
            series: self.series,
            polls,
            unwritten,
            cut_short,
            failed: self.failed,
        }
    }
}
