//! Latencies of churn: opening and closing, per group.

use std::time::{Duration, SystemTime};

use rabbitscope_runs::{
    record::Percentiles,
    scenario::{ChurnGroup, ChurnKind},
};
use serde::{Deserialize, Serialize};

use super::{
    histogram::{LatencyHistogram, latency_point},
    log::{LatencyLog, LatencyRecord},
};
use crate::clock::Nanos;

/// Latencies of one interval, per group number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChurnHistograms(Vec<GroupHistograms>);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct GroupHistograms {
    open: LatencyHistogram,
    close: LatencyHistogram,
}

impl ChurnHistograms {
    /// Records the time that opening took.
    pub fn opened(&mut self, group: usize, latency: Nanos) {
        self.group(group).open.record(latency, 1);
    }

    /// Records the time that closing took.
    pub fn closed(&mut self, group: usize, latency: Nanos) {
        self.group(group).close.record(latency, 1);
    }

    fn group(&mut self, group: usize) -> &mut GroupHistograms {
        if self.0.len() <= group {
            self.0.resize_with(group + 1, GroupHistograms::default);
        }
        &mut self.0[group]
    }

    /// Adds the measurements of another interval or thread.
    pub fn add(&mut self, other: &Self) {
        for (number, part) in other.0.iter().enumerate() {
            let sum = self.group(number);
            sum.open.add(&part.open);
            sum.close.add(&part.close);
        }
    }

    /// Number of measurements.
    pub fn samples(&self) -> u64 {
        let histograms = self.0.iter().flat_map(|group| [&group.open, &group.close]);
        histograms.map(LatencyHistogram::samples).fold(0, u64::saturating_add)
    }

    /// Memory in KiB.
    pub fn kib(&self) -> usize {
        self.0.iter().map(|group| group.open.kib() + group.close.kib()).sum()
    }

    /// Latencies of opening and closing for one row of the series, over all groups.
    pub fn points(&self) -> (Option<Percentiles>, Option<Percentiles>) {
        let mut all = GroupHistograms::default();
        for group in &self.0 {
            all.open.add(&group.open);
            all.close.add(&group.close);
        }
        (latency_point(&all.open), latency_point(&all.close))
    }
}

/// Latencies of a whole run, per group number.
#[derive(Default)]
pub struct ChurnLogs(Vec<[LatencyLog; 2]>);

impl ChurnLogs {
    /// Returns empty logs for groups of churn from `start` on.
    pub fn new(groups: &[ChurnGroup], start: SystemTime) -> Self {
        let logs = groups.iter().map(|group| {
            let [open, close] = meanings(group.kind);
            let log = |end: &str, meaning: &str| {
                LatencyLog::named(format!("{}-{end}", group.name), meaning.to_owned(), start)
            };
            [log("open", open), log("close", close)]
        });
        Self(logs.collect())
    }

    /// Adds the measurements of an interval.
    pub fn add(
        &mut self,
        interval: &ChurnHistograms,
        start: Duration,
        length: Duration,
        warm: bool,
    ) {
        for (logs, histograms) in self.0.iter_mut().zip(&interval.0) {
            let [open, close] = logs;
            open.add(&histograms.open, start, length, warm);
            close.add(&histograms.close, start, length, warm);
        }
    }

    /// Returns the records of the latencies that were measured.
    pub fn finish(self) -> impl Iterator<Item = LatencyRecord> {
        self.0.into_iter().flatten().filter_map(LatencyLog::finish)
    }
}

/// Definitions of the latencies of opening and of closing.
fn meanings(kind: ChurnKind) -> [&'static str; 2] {
    match kind {
        ChurnKind::Connections => [
            "from dialling to the broker's acceptance of the connection and its virtual host",
            "from a request to close a connection to the broker's answer",
        ],
        ChurnKind::Channels => [
            "from a request for a channel to its opening",
            "from a request to close a channel to its end",
        ],
        ChurnKind::Queues => [
            "from declaring a queue to the broker's answer",
            "from deleting a queue to the broker's answer",
        ],
        ChurnKind::Bindings => [
            "from a request for a binding to the broker's answer",
            "from a request to remove it to the broker's answer",
        ],
        ChurnKind::Consumers => [
            "from a request to consume to the broker's answer",
            "from cancelling a consumer to the broker's answer",
        ],
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    fn group(name: &str) -> ChurnGroup {
        let text = format!(
            "name = \"t\"\nrun.duration = \"1s\"\nchurn = [{{ name = \"{name}\", kind = \"channels\" }}]"
        );
        scenario::parse(&text, "t", &[]).unwrap().churn.remove(0)
    }

    #[test]
    fn each_group_has_its_own_latencies() {
        let (mut one, mut other) = (ChurnHistograms::default(), ChurnHistograms::default());
        one.opened(0, Nanos::new(1000));
        other.opened(1, Nanos::new(5000));
        other.opened(1, Nanos::new(6000));
        other.closed(1, Nanos::new(70));
        one.add(&other);
        let (open, close) = one.points();
        assert_eq!((open.unwrap().count, close.unwrap().count), (3, 1));

        let mut logs = ChurnLogs::new(&[group("a"), group("b")], SystemTime::UNIX_EPOCH);
        logs.add(&one, Duration::ZERO, Duration::from_secs(1), false);
        let found: Vec<_> = logs
            .finish()
            .map(|record| (record.summary.file, record.summary.figures.percentiles.count))
            .collect();
        let expected =
            [("latency-a-open.hlog", 1), ("latency-b-open.hlog", 2), ("latency-b-close.hlog", 1)];
        assert_eq!(found, expected.map(|(file, count)| (file.to_owned(), count)));
    }
}
