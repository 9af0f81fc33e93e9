//! A broker's rates under load, from the seconds of a run.

use rabbitscope_runs::record::{ExpectedGauge, SecondRow, Statistic};

/// Means over the time in which publishers were running. Seconds of the drain ([`SecondRow::draining`]) are left out,
/// because they would add confirms without time to match. The warm-up ([`SecondRow::warming`]) is left out as well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadRates {
    /// Messages written to sockets per second.
    pub written: f64,
    /// Messages that the broker accepted per second; absent in files of versions that did not count them.
    pub accepted: Option<f64>,
    /// Messages confirmed per second.
    pub confirmed: f64,
    /// Messages delivered to consumers per second.
    pub consumed: f64,
    /// Replies that callers received per second.
    pub replied: f64,
    /// Objects that churn opened per second.
    pub churned: f64,
    /// Items published per second; see `items-per-message`.
    pub published_items: f64,
    /// Bytes of published items per second, before compression.
    pub published_item_bytes: f64,
    /// Items consumed per second.
    pub consumed_items: f64,
    /// Bytes of consumed items per second, after decompression.
    pub consumed_item_bytes: f64,
    /// CPU use of the broker in cores, over the seconds with a measurement.
    pub broker_cpu_cores: Option<f64>,
    /// Length of the load in seconds.
    pub seconds: f64,
    /// Effort of the client for each message.
    pub effort: ClientEffort,
}

/// Effort of the client per message, published and consumed ones together. A ratio is 0 if it has no whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClientEffort {
    /// Messages published per write call. Acknowledgements are written too.
    pub messages_per_write: f64,
    /// Bytes per write call.
    pub bytes_per_write: f64,
    /// Messages consumed per read call. Confirms are read too.
    pub messages_per_read: f64,
    /// Bytes per read call.
    pub bytes_per_read: f64,
    /// Read and write calls per message.
    pub calls_per_message: f64,
    /// CPU time per message, in nanoseconds.
    pub cpu_nanos_per_message: f64,
}

impl ClientEffort {
    fn new(rows: &[&SecondRow]) -> Self {
        let sum =
            |count: fn(&SecondRow) -> u64| rows.iter().map(|row| count(row)).sum::<u64>() as f64;
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (writes, reads) = (sum(|row| row.counts.writes), sum(|row| row.counts.reads));
        let (published, consumed) =
            (sum(|row| row.counts.published), sum(|row| row.counts.consumed));
        let cpu = rows
            .iter()
            .map(|row| row.client_cpu_cores.unwrap_or_default() * row.interval_nanos as f64);
        Self {
            messages_per_write: ratio(published, writes),
            bytes_per_write: ratio(sum(|row| row.counts.bytes_written), writes),
            messages_per_read: ratio(consumed, reads),
            bytes_per_read: ratio(sum(|row| row.counts.bytes_read), reads),
            calls_per_message: ratio(writes + reads, published + consumed),
            cpu_nanos_per_message: ratio(cpu.sum(), published + consumed),
        }
    }
}

impl LoadRates {
    /// Returns the messages per second that the broker accepted, or that were written where nothing else is known.
    pub fn published(&self) -> f64 {
        self.accepted.unwrap_or(self.written)
    }

    /// Returns the means over these seconds; absent if none of them was under load.
    pub fn from_series(series: &[SecondRow]) -> Option<Self> {
        let loaded = || series.iter().filter(|row| !row.draining && !row.warming);
        let seconds = loaded().map(|row| row.interval_nanos as f64).sum::<f64>() / 1e9;
        if seconds <= 0.0 {
            return None;
        }
        let rate = |count: fn(&SecondRow) -> u64| loaded().map(count).sum::<u64>() as f64 / seconds;
        Some(Self {
            written: rate(|row| row.counts.published),
            accepted: accepted(loaded()).map(|count| count as f64 / seconds),
            confirmed: rate(|row| row.counts.confirmed),
            consumed: rate(|row| row.counts.consumed),
            replied: rate(|row| row.counts.replies),
            churned: rate(|row| row.counts.churn_opened),
            published_items: rate(|row| row.counts.published_items),
            published_item_bytes: rate(|row| row.counts.published_item_bytes),
            consumed_items: rate(|row| row.counts.consumed_items),
            consumed_item_bytes: rate(|row| row.counts.consumed_item_bytes),
            broker_cpu_cores: mean_cores(loaded()),
            seconds,
            effort: ClientEffort::new(&loaded().collect::<Vec<_>>()),
        })
    }
}

fn accepted<'a>(mut rows: impl Iterator<Item = &'a SecondRow>) -> Option<u64> {
    rows.try_fold(0, |sum: u64, row| Some(sum.saturating_add(row.counts.accepted.get()?)))
}

/// Returns the mean weighted by the length of the seconds.
fn mean_cores<'a>(rows: impl Iterator<Item = &'a SecondRow>) -> Option<f64> {
    let (cpu, time) = rows
        .filter_map(|row| Some((row.broker_cpu_cores?, row.interval_nanos as f64)))
        .fold((0.0, 0.0), |(cpu, time), (cores, nanos)| (cpu + cores * nanos, time + nanos));
    (time > 0.0).then(|| cpu / time)
}

/// Returns a statistic of a gauge over these seconds; absent if less than half of their time has a value.
pub(crate) fn gauge_value<'a>(
    gauge: ExpectedGauge,
    statistic: Statistic,
    rows: impl Iterator<Item = &'a SecondRow>,
) -> Option<f64> {
    let (mut whole, mut known, mut sum) = (0.0, 0.0, 0.0);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in rows {
        let nanos = row.interval_nanos as f64;
        whole += nanos;
        let Some(value) = gauge.value(row) else { continue };
        known += nanos;
        sum += value * nanos;
        (least, most) = (least.min(value), most.max(value));
    }
    (known > 0.0 && 2.0 * known >= whole).then_some(match statistic {
        Statistic::Mean => sum / known,
        Statistic::Min => least,
        Statistic::Max => most,
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, KnownCount, Metric, NodeFigures};

    use super::*;

    fn row(nanos: u64, published: u64, cores: Option<f64>, draining: bool) -> SecondRow {
        SecondRow {
            interval_nanos: nanos,
            broker_cpu_cores: cores,
            client_cpu_cores: Some(0.5),
            draining,
            counts: Counters {
                published,
                accepted: (published / 3).into(),
                confirmed: published / 2,
                writes: published / 9,
                bytes_written: published * 100,
                ..Counters::default()
            },
            ..SecondRow::default()
        }
    }

    fn check(series: &[SecondRow], expected: Option<LoadRates>) {
        assert_eq!(LoadRates::from_series(series), expected);
    }

    #[test]
    fn only_seconds_under_load_count() {
        let series = [
            row(1_000_000_000, 99, Some(1.0), false),
            row(500_000_000, 81, Some(4.0), false),
            row(500_000_000, 0, None, false),
            row(1_000_000_000, 900, Some(9.0), true),
            SecondRow { warming: true, ..row(1_000_000_000, 700, Some(7.0), false) },
        ];
        let expected = LoadRates {
            written: 90.0,
            accepted: Some(30.0),
            confirmed: 44.5,
            broker_cpu_cores: Some(2.0),
            seconds: 2.0,
            effort: ClientEffort {
                messages_per_write: 9.0,
                bytes_per_write: 900.0,
                calls_per_message: 1.0 / 9.0,
                cpu_nanos_per_message: 1e9 / 180.0,
                ..ClientEffort::default()
            },
            ..LoadRates::default()
        };
        check(&series, Some(expected));
    }

    #[test]
    fn no_load_has_no_rate() {
        check(&[], None);
        check(&[row(1_000_000_000, 5, None, true)], None);
    }

    #[test]
    fn a_file_of_an_older_version_says_what_was_written() {
        let mut old = row(1_000_000_000, 70, None, false);
        old.counts.accepted = KnownCount::UNKNOWN;
        let rates = LoadRates::from_series(&[old]).unwrap();
        assert_eq!((rates.accepted, rates.published().to_bits()), (None, 70_f64.to_bits()));
        let new = LoadRates::from_series(&[row(1_000_000_000, 90, None, false)]).unwrap();
        assert_eq!(new.published().to_bits(), 30_f64.to_bits());
    }

    #[test]
    fn a_gauge_needs_half_of_the_time() {
        let row = |run_queue: Option<u64>| SecondRow {
            interval_nanos: 1_000_000_000,
            node: Some(NodeFigures { run_queue, ..NodeFigures::default() }),
            ..SecondRow::default()
        };
        let check = |name: &str, rows: &[SecondRow], expected: Option<f64>| {
            let Some(Metric::Gauge(gauge, statistic)) = Metric::from_name(name) else { panic!() };
            assert_eq!(gauge_value(gauge, statistic, rows.iter()), expected, "{name}");
        };
        let rows = [row(Some(2)), row(None), row(Some(3)), row(None), row(None)];
        check("node.run-queue.mean", &rows[..4], Some(2.5));
        check("node.run-queue.max", &rows[..4], Some(3.0));
        check("node.run-queue.min", &rows[..4], Some(2.0));
        check("node.run-queue.min", &rows, None);
        check("node.processes.mean", &rows, None);
    }
}
