//! Reports of a running load ([`Progress`]) and of an ended load ([`LoadOutcome`]).

use std::time::Duration;

use hdrhistogram::Histogram;
use rabbitscope_runs::record::{
    ClientCheck, Doubt, ErrorCount, LatencyBreakdown, LoadTotals, Loss, Measured, SecondRow,
    Service, TracedMessage, Verdict, Verification,
};
use rabbitscope_timing::LatencyRecord;

/// Progress of a running load.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Connections are being made.
    Connecting {
        /// Connections that are ready.
        done: usize,
        /// Connections of the run.
        of: usize,
    },
    /// A notice for people during the run: one sentence.
    Notice(&'a str),
    /// Every connection is up; the first message follows.
    Started {
        /// Nanoseconds since 1970-01-01 UTC.
        unix_nanos: u64,
    },
    /// The measurements of a latency in the second that [`Progress::Second`] reports next.
    Latency {
        /// Name, as in `run.json`.
        name: &'a str,
        /// In nanoseconds.
        histogram: &'a Histogram<u64>,
    },
    /// A second has passed. The program fills in the broker's CPU and memory.
    Second(&'a SecondRow),
}

/// The measurements of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOutcome {
    /// Start of the load, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// Time from the start until the publishers stopped, without the drain that follows.
    pub duration: Duration,
    /// The part of `duration` that rates and latencies cover.
    pub measured: Measured,
    /// All counters, drain included.
    pub totals: LoadTotals,
    /// One record for each latency that was measured.
    pub latencies: Vec<LatencyRecord>,
    /// Latencies by group and by queue.
    pub breakdown: LatencyBreakdown,
    /// Missing measurements, with their consequences.
    pub losses: Vec<Loss>,
    /// The end of the run and its reason.
    pub verdict: Verdict,
    /// Times without service.
    pub service: Service,
    /// The last error of each kind.
    pub errors: Vec<ErrorCount>,
    /// The self-check of the load generator.
    pub client: ClientCheck,
    /// Reasons to doubt the figures.
    pub doubts: Vec<Doubt>,
    /// The verification of deliveries, with `run.verify`.
    pub verification: Option<Verification>,
    /// The history of every n-th message in sending order, with `run.trace-every`.
    pub trace: Vec<TracedMessage>,
}
