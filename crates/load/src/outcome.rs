//! What a load reports while it runs ([`Progress`]) and when it has ended ([`LoadOutcome`]).

use std::time::Duration;

use hdrhistogram::Histogram;
use rabbitscope_runs::record::{
    ClientCheck, Doubt, ErrorCount, LatencyBreakdown, LoadTotals, Loss, Measured, SecondRow,
    Service, TracedMessage, Verdict, Verification,
};

use crate::latency::LatencyRecord;

/// What happens while the load runs.
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
    /// Something that a person should know while the run goes on, in a sentence.
    Notice(&'a str),
    /// Every connection is up and the first message is about to be sent.
    Started {
        /// Nanoseconds since 1970-01-01 UTC.
        unix_nanos: u64,
    },
    /// The measurements of a latency in the second that [`Progress::Second`] reports next.
    Latency {
        /// As in `run.json`.
        name: &'a str,
        /// In nanoseconds.
        histogram: &'a Histogram<u64>,
    },
    /// A second has passed. Broker CPU and memory are left for the program to fill in.
    Second(&'a SecondRow),
}

/// What a load measured.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOutcome {
    /// Start of the load, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// From the start until the publishers stopped; the drain that follows is not part of it.
    pub duration: Duration,
    /// The part of `duration` that rates and latencies are about.
    pub measured: Measured,
    /// Everything that was counted, drain included.
    pub totals: LoadTotals,
    /// One for each latency that was measured.
    pub latencies: Vec<LatencyRecord>,
    /// Latencies by group and by queue.
    pub breakdown: LatencyBreakdown,
    /// What was not measured, and why it matters.
    pub losses: Vec<Loss>,
    /// How it ended.
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
    /// The history of every n-th message, in the order of sending, with `run.trace-every`.
    pub trace: Vec<TracedMessage>,
}
