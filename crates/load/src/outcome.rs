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
        /// Those that are there.
        done: usize,
        /// Of so many.
        of: usize,
    },
    /// Every connection is up and the first message is about to be sent.
    Started {
        /// Nanoseconds since 1970-01-01 UTC.
        unix_nanos: u64,
    },
    /// What was measured of a latency in the second that is told next.
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
    /// The same, apart for groups and queues.
    pub breakdown: LatencyBreakdown,
    /// What was not measured, and why it matters.
    pub losses: Vec<Loss>,
    /// How it ended.
    pub verdict: Verdict,
    /// When the broker did not serve.
    pub service: Service,
    /// The last error of each kind.
    pub errors: Vec<ErrorCount>,
    /// What the load generator says of itself.
    pub client: ClientCheck,
    /// Why the figures may not be believed.
    pub doubts: Vec<Doubt>,
    /// What became of every message, with `run.verify`.
    pub verification: Option<Verification>,
    /// The fate of every so-manieth message, in the order in which they were sent.
    pub trace: Vec<TracedMessage>,
}
