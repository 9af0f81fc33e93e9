//! Records the observations of one load thread and sends them in batches.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::Sender,
    },
    thread,
    time::Duration,
};

use rabbitscope_runs::scenario::RunOptions;
use rabbitscope_timing::{Nanos, Numbering, RunInstant};
use rabbitscope_verify::{Observation, Reader, TraceStep, TraceStepKind};

use super::messages::Report;

/// Observations in a batch. Chosen: about 200 KiB.
const BATCH: usize = 4096;

/// Limit of the batches of all threads that wait for the aggregator. Beyond it the load threads wait, because more
/// batches would fill the memory: these take about 50 MiB.
const MAX_BATCHES: usize = 256;

/// Interval at which a load thread that waits for the aggregator checks again. Chosen: the aggregator needs less for a
/// batch.
const BACKPRESSURE_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// The kinds of observations that a run records.
#[derive(Clone, Debug)]
pub struct ObservationSettings {
    verifies: bool,
    trace_every: Option<u32>,
    numbering: Numbering,
    /// Batches of all threads that the aggregator has not processed.
    waiting: Arc<AtomicUsize>,
}

impl ObservationSettings {
    /// Settings from the options of a run; absent if it records no observations.
    pub fn from_options(options: &RunOptions, numbering: Numbering) -> Option<Self> {
        let every = |every| u32::try_from(every).unwrap_or(u32::MAX);
        let trace_every = options.trace_every.map(every);
        let verifies = options.verify;
        (verifies || trace_every.is_some()).then(|| Self {
            verifies,
            trace_every,
            numbering,
            waiting: Arc::default(),
        })
    }

    /// Notes that the aggregator has processed a batch.
    pub fn taken(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Records the observations of a load thread.
pub struct ObservationRecorder {
    settings: ObservationSettings,
    batch: Vec<Observation>,
    reports: Sender<Report>,
}

impl ObservationRecorder {
    /// Returns a recorder that sends its batches to `reports`.
    pub fn new(settings: ObservationSettings, reports: Sender<Report>) -> Self {
        Self { settings, batch: Vec::with_capacity(BATCH), reports }
    }

    /// Traces a message that a publisher sends.
    #[inline]
    pub fn sent(&mut self, publisher: u32, sequence: u64, at: RunInstant, lateness: Option<Nanos>) {
        let number = self.settings.numbering.join(publisher, sequence);
        self.trace(number, at, TraceStepKind::Sent { publisher, sequence, lateness });
    }

    /// Records that the broker accepted `count` messages from `first` on, which were sent without confirms.
    #[inline]
    pub fn accepted(&mut self, publisher: u32, first: u32, count: u32) {
        self.note(Observation::Accepted { publisher, first, count });
    }

    /// Records that the broker confirmed or refused a message.
    #[inline]
    pub fn settled(&mut self, publisher: u32, sequence: u32, at: RunInstant, accepted: bool) {
        if accepted {
            self.note(Observation::Accepted { publisher, first: sequence, count: 1 });
        }
        let number = self.settings.numbering.join(publisher, u64::from(sequence));
        self.trace(number, at, TraceStepKind::Settled { accepted });
    }

    /// Records the delivery of a message to a consumer.
    #[inline]
    pub fn delivered(&mut self, reader: Reader, number: u32, at: RunInstant, redelivered: bool) {
        self.note(Observation::Delivered { reader, first: number, count: 1, redelivered });
        self.trace(number, at, TraceStepKind::Delivered { redelivered });
    }

    /// Records an observation for `run.verify`.
    #[inline]
    pub fn note(&mut self, observation: Observation) {
        if self.settings.verifies
            && !self.batch.last_mut().is_some_and(|last| last.absorb(&observation))
        {
            self.push(observation);
        }
    }

    #[inline]
    fn trace(&mut self, number: u32, at: RunInstant, kind: TraceStepKind) {
        if let Some(every) = self.settings.trace_every
            && self.settings.numbering.split(number).1.is_multiple_of(every)
        {
            self.push(Observation::Traced(TraceStep { number, at, kind }));
        }
    }

    fn push(&mut self, observation: Observation) {
        if self.batch.len() == BATCH {
            self.send();
        }
        self.batch.push(observation);
    }

    /// Sends the batch.
    pub fn send(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        while self.settings.waiting.load(Ordering::Relaxed) > MAX_BATCHES {
            thread::sleep(BACKPRESSURE_POLL_INTERVAL);
        }
        self.settings.waiting.fetch_add(1, Ordering::Relaxed);
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // Sending fails after the run, when the receiver is gone.
        self.reports.send(Report::Observed(batch)).ok();
    }
}
