//! What a thread counted in one interval.

use hdrhistogram::Histogram;
use rabbitscope_data::run::{LoadTotals, SecondRow};

use crate::latency;

/// Counts and latencies of one interval. Tallies of several threads add up.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) counts: LoadTotals,
    /// Sent and not confirmed at the end of the interval.
    pub(crate) outstanding: u64,
    /// From write to confirm, in nanoseconds.
    pub(crate) confirm: Histogram<u64>,
    /// From write to delivery, in nanoseconds.
    pub(crate) end_to_end: Histogram<u64>,
    /// Deliveries that carry no time stamp of this run.
    pub(crate) unstamped: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counts: LoadTotals::default(),
            outstanding: 0,
            confirm: latency::histogram(),
            end_to_end: latency::histogram(),
            unstamped: 0,
        }
    }
}

impl Tally {
    pub(crate) fn add(&mut self, other: &Self) {
        add(&mut self.counts, &other.counts);
        self.outstanding += other.outstanding;
        self.unstamped += other.unstamped;
        let added = self.confirm.add(&other.confirm).and(self.end_to_end.add(&other.end_to_end));
        debug_assert!(added.is_ok(), "histograms grow as they need to");
    }

    /// As a row of the series; broker figures are left for the program.
    pub(crate) fn row(&self, second: u32, interval_nanos: u64, draining: bool) -> SecondRow {
        let counts = &self.counts;
        SecondRow {
            second,
            interval_nanos,
            draining,
            published: counts.published,
            confirmed: counts.confirmed,
            nacked: counts.nacked,
            returned: counts.returned,
            consumed: counts.consumed,
            redelivered: counts.redelivered,
            bytes_written: counts.bytes_written,
            writes: counts.writes,
            bytes_read: counts.bytes_read,
            reads: counts.reads,
            socket_stall_nanos: counts.socket_stall_nanos,
            blocked_nanos: counts.blocked_nanos,
            unconfirmed: self.outstanding,
            confirm_latency: latency::point(&self.confirm),
            end_to_end_latency: latency::point(&self.end_to_end),
            client_cpu_cores: Some(counts.client_cpu_nanos as f64 / interval_nanos.max(1) as f64),
            ..SecondRow::default()
        }
    }
}

/// Adds every count but `unconfirmed`, which is known at the end only.
pub(crate) fn add(sum: &mut LoadTotals, part: &LoadTotals) {
    sum.published += part.published;
    sum.confirmed += part.confirmed;
    sum.nacked += part.nacked;
    sum.returned += part.returned;
    sum.consumed += part.consumed;
    sum.redelivered += part.redelivered;
    sum.bytes_written += part.bytes_written;
    sum.writes += part.writes;
    sum.bytes_read += part.bytes_read;
    sum.reads += part.reads;
    sum.socket_stall_nanos += part.socket_stall_nanos;
    sum.blocked_nanos += part.blocked_nanos;
    sum.client_cpu_nanos += part.client_cpu_nanos;
}
