//! Counts and latencies of one thread in one interval.

use rabbitscope_runs::record::{Counters, SecondLatencies, SecondRow};
use serde::{Deserialize, Serialize};

use crate::{
    clock::Nanos,
    latency::{ChurnHistograms, HistogramSet, Latency, LatencyHistogram, add_slots, latency_point},
};

/// Counts and latencies of one interval. Those of several threads add up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct IntervalMeasurements {
    pub(crate) counts: Counters,
    /// Messages sent but not confirmed at the end of the interval.
    pub(crate) outstanding: u64,
    /// Connections that are up at the end of the interval.
    pub(crate) connections: u64,
    /// By [`Latency`]: measurements of messages that were overdue at the end.
    pub(crate) overdue: [u64; Latency::ALL.len()],
    pub(crate) responsiveness: Responsiveness,
    /// The histograms of the selected slot, by [`Latency`]. Empty after [`IntervalMeasurements::by_slot`].
    #[serde(skip)]
    pub(crate) latencies: HistogramSet,
    /// The histograms of the other slots.
    slots: Vec<HistogramSet>,
    #[serde(skip)]
    selected: u16,
    pub(crate) churn: ChurnHistograms,
    /// The broker's first reason for refusing churn.
    pub(crate) churn_refusal: Option<String>,
    /// Deliveries that carry no time stamp of this run.
    pub(crate) unstamped: u64,
    /// Deliveries whose stamp is later than the clock of the receiving process: clocks of several processes differ.
    pub(crate) before_sent: u64,
}

/// Responsiveness of the broker and of the client in an interval.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Responsiveness {
    /// Connections that wait for an answer at the end of the interval.
    pub(crate) unanswered: u64,
    /// Connections whose socket is full at the end of the interval.
    pub(crate) stalled: u64,
    /// The longest time for which a load thread did not poll.
    pub(crate) away: Nanos,
    /// Connections of churn that failed to open because no server answered.
    pub(crate) unreached: u64,
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
    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.outstanding += other.outstanding;
        self.connections += other.connections;
        self.unstamped += other.unstamped;
        self.before_sent += other.before_sent;
        for (sum, part) in self.latencies.iter_mut().zip(&other.latencies) {
            sum.add(part);
        }
        for (sum, part) in self.overdue.iter_mut().zip(&other.overdue) {
            *sum += part;
        }
        self.responsiveness.add(&other.responsiveness);
        add_slots(&mut self.slots, &other.slots);
        self.churn.add(&other.churn);
        if self.churn_refusal.is_none() {
            self.churn_refusal.clone_from(&other.churn_refusal);
        }
    }

    /// Counts an opening or closing that failed.
    pub(crate) fn churn_failed(&mut self, reason: &str) {
        self.counts.churn_failed += 1;
        self.churn_refusal.get_or_insert_with(|| reason.to_owned());
    }

    /// Selects the slot of the measurements that follow.
    #[inline]
    pub(crate) fn select(&mut self, slot: u16) {
        if slot != self.selected {
            self.store_selected();
            self.selected = slot;
            let at = usize::from(slot);
            self.latencies = self.slots.get_mut(at).map(std::mem::take).unwrap_or_default();
        }
    }

    /// Stores the histograms of the selected slot with those of the others. Required before
    /// measurements of different threads are added.
    pub(crate) fn store_selected(&mut self) {
        let at = usize::from(self.selected);
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, HistogramSet::default);
        }
        let measured = std::mem::take(&mut self.latencies);
        for (sum, part) in self.slots[at].iter_mut().zip(measured) {
            sum.absorb(part);
        }
    }

    /// Moves the histograms out of `other`, which keeps its counts.
    pub(crate) fn take_histograms(&mut self, other: &mut Self) {
        self.store_selected();
        add_slots(&mut self.slots, &other.by_slot());
        self.churn.add(&std::mem::take(&mut other.churn));
    }

    /// Returns the number of measured latencies and of messages without one.
    pub(crate) fn samples(&self) -> u64 {
        let of_slots = self.slots.iter().flatten().map(LatencyHistogram::samples);
        let others = [self.unstamped, self.before_sent, self.churn.samples()];
        let all = of_slots.chain(self.overdue).chain(others);
        all.fold(0, u64::saturating_add)
    }

    /// Returns the memory of the histograms in KiB.
    pub(crate) fn kib(&self) -> usize {
        let slots = self.slots.iter().flatten().chain(&self.latencies);
        slots.map(LatencyHistogram::kib).sum::<usize>() + self.churn.kib()
    }

    /// Takes the histograms of all slots, by slot.
    pub(crate) fn by_slot(&mut self) -> Vec<HistogramSet> {
        self.store_selected();
        std::mem::take(&mut self.slots)
    }

    /// Records `count` measurements of `value`.
    #[inline]
    pub(crate) fn measure(&mut self, latency: Latency, value: Nanos, count: u64) {
        self.latencies[latency as usize].record(value, count);
    }

    /// Records a message that was overdue at the end, with its age.
    pub(crate) fn measure_overdue(&mut self, latency: Latency, age: Nanos) {
        self.measure(latency, age, 1);
        self.overdue[latency as usize] += 1;
    }

    /// Returns a row of the series. The program adds the figures of the broker.
    pub(crate) fn row(&self, second: u32, length: Nanos) -> SecondRow {
        let (counts, interval_nanos) = (&self.counts, length.get());
        let point = |latency: Latency| latency_point(&self.latencies[latency as usize]);
        let (churn_open_latency, churn_close_latency) = self.churn.points();
        SecondRow {
            second,
            interval_nanos,
            counts: counts.clone(),
            connections: self.connections,
            unconfirmed: self.outstanding,
            latencies: SecondLatencies {
                confirm_latency: point(Latency::Confirm),
                end_to_end_latency: point(Latency::EndToEnd),
                confirm_intended_latency: point(Latency::ConfirmIntended),
                end_to_end_intended_latency: point(Latency::EndToEndIntended),
                processed_latency: point(Latency::Processed),
                processed_intended_latency: point(Latency::ProcessedIntended),
                settled_latency: point(Latency::Settled),
                settled_intended_latency: point(Latency::SettledIntended),
                round_trip_latency: point(Latency::RoundTrip),
                round_trip_intended_latency: point(Latency::RoundTripIntended),
                client_delay: point(Latency::ClientDelay),
                churn_open_latency,
                churn_close_latency,
            },
            client_cpu_cores: Some(counts.client_cpu_nanos as f64 / interval_nanos.max(1) as f64),
            ..SecondRow::default()
        }
    }
}
