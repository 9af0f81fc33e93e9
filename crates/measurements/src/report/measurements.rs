//! Counts and latencies of one thread in one interval.

use rabbitscope_runs::record::{Counters, Latency, SecondLatencies, SecondRow};
use rabbitscope_timing::{ChurnHistograms, Nanos, SecondHistograms, SlotHistograms};
use serde::{Deserialize, Serialize};

/// Counts and latencies of one interval. Those of several threads add up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct IntervalMeasurements {
    /// Counters.
    pub counts: Counters,
    /// Messages sent but not confirmed at the end of the interval.
    pub outstanding: u64,
    /// Connections that are up at the end of the interval.
    pub connections: u64,
    /// By [`Latency`]: measurements of messages that were overdue at the end.
    pub overdue: [u64; Latency::ALL.len()],
    /// Responsiveness of broker and client.
    pub responsiveness: Responsiveness,
    /// Latencies by slot.
    pub slots: SlotHistograms,
    /// Latencies of churn.
    pub churn: ChurnHistograms,
    /// The broker's first reason for refusing churn.
    pub(crate) churn_refusal: Option<String>,
    /// Deliveries that carry no time stamp of this run.
    pub unstamped: u64,
    /// Deliveries whose stamp is later than the clock of the receiving process: clocks of several processes differ.
    pub before_sent: u64,
}

/// Responsiveness of the broker and of the client in an interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Responsiveness {
    /// Connections that wait for an answer at the end of the interval.
    pub unanswered: u64,
    /// Connections whose socket is full at the end of the interval.
    pub stalled: u64,
    /// The longest time for which a load thread did not poll.
    pub away: Nanos,
    /// Connections of churn that failed to open because no server answered.
    pub unreached: u64,
}

impl Responsiveness {
    fn add(&mut self, other: &Self) {
        self.unanswered += other.unanswered;
        self.stalled += other.stalled;
        self.away = self.away.max(other.away);
        self.unreached += other.unreached;
    }
}

impl IntervalMeasurements {
    /// Adds the measurements of another thread.
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.outstanding += other.outstanding;
        self.connections += other.connections;
        self.unstamped += other.unstamped;
        self.before_sent += other.before_sent;
        for (sum, part) in self.overdue.iter_mut().zip(&other.overdue) {
            *sum += part;
        }
        self.responsiveness.add(&other.responsiveness);
        self.slots.add(&other.slots);
        self.churn.add(&other.churn);
        if self.churn_refusal.is_none() {
            self.churn_refusal.clone_from(&other.churn_refusal);
        }
    }

    /// Counts an opening or closing that failed.
    pub fn churn_failed(&mut self, reason: &str) {
        self.counts.churn_failed += 1;
        self.churn_refusal.get_or_insert_with(|| reason.to_owned());
    }

    /// Moves the histograms out of `other`, which keeps its counts.
    pub(crate) fn take_histograms(&mut self, other: &mut Self) {
        self.slots.absorb(&mut other.slots);
        self.churn.add(&std::mem::take(&mut other.churn));
    }

    /// Returns the number of measured latencies and of messages without one.
    pub(crate) fn samples(&self) -> u64 {
        let others = [self.unstamped, self.before_sent, self.churn.samples()];
        let all = self.slots.samples().chain(self.overdue).chain(others);
        all.fold(0, u64::saturating_add)
    }

    /// Returns the memory of the histograms in KiB.
    pub(crate) fn kib(&self) -> usize {
        self.slots.kib() + self.churn.kib()
    }

    /// Records `count` measurements of `value` in the selected slot.
    #[inline]
    pub fn measure(&mut self, latency: Latency, value: Nanos, count: u64) {
        self.slots.record(latency, value, count);
    }

    /// Records a message that was overdue at the end, with its age.
    pub fn measure_overdue(&mut self, latency: Latency, age: Nanos) {
        self.measure(latency, age, 1);
        self.overdue[latency as usize] += 1;
    }

    /// Returns a row of the series, with the latencies of all slots. The program adds the figures of the broker.
    pub(crate) fn row(
        &self,
        latencies: &SecondHistograms,
        second: u32,
        length: Nanos,
    ) -> SecondRow {
        let (counts, interval_nanos) = (&self.counts, length.get());
        let (churn_open_latency, churn_close_latency) = self.churn.points();
        SecondRow {
            second,
            interval_nanos,
            counts: counts.clone(),
            connections: self.connections,
            unconfirmed: self.outstanding,
            latencies: SecondLatencies {
                churn_open_latency,
                churn_close_latency,
                ..SecondLatencies::from_fn(|latency| latencies.point(latency))
            },
            client_cpu_cores: Some(counts.client_cpu_nanos as f64 / interval_nanos.max(1) as f64),
            ..SecondRow::default()
        }
    }
}
