//! The seconds of a run in columns, counts turned into rates.

use rabbitscope_runs::record::{Percentiles, SecondRow};
use serde::Serialize;

use crate::more_charts::{ChartData, more_charts};

/// One entry per second in every column. Times are seconds since the start of the load, rates are per second, latencies
/// in nanoseconds, CPU in cores, memory in bytes.
#[derive(Serialize)]
pub(crate) struct SeriesData {
    /// Middle of each interval.
    at: Vec<f64>,
    /// Messages written to sockets.
    published: Vec<f64>,
    /// Messages that the broker accepted. Absent in files of older versions, and if each message was confirmed.
    accepted: Option<Vec<f64>>,
    confirmed: Vec<f64>,
    consumed: Vec<f64>,
    confirm: LatencyColumns,
    #[serde(rename = "end-to-end")]
    end_to_end: LatencyColumns,
    #[serde(rename = "broker-cpu")]
    broker_cpu: Vec<Option<f64>>,
    #[serde(rename = "client-cpu")]
    client_cpu: Vec<Option<f64>>,
    #[serde(rename = "broker-rss")]
    broker_rss: Vec<Option<u64>>,
    /// Charts that only some runs have.
    more: Vec<ChartData>,
}

#[derive(Serialize)]
struct LatencyColumns {
    p50: Vec<Option<u64>>,
    p99: Vec<Option<u64>>,
    max: Vec<Option<u64>>,
}

impl SeriesData {
    /// Leaves out the seconds of the drain, which are part of no rate.
    pub(crate) fn new(rows: &[SecondRow]) -> Self {
        let rows: Vec<&SecondRow> = rows.iter().filter(|row| !row.draining).collect();
        let rows = rows.as_slice();
        let rate = |count: fn(&SecondRow) -> u64| {
            rows.iter().map(|row| tenths(count(row) as f64 / interval(row))).collect()
        };
        let is_said =
            rows.iter().any(|row| row.counts.accepted.get() != Some(row.counts.confirmed));
        let is_known = rows.iter().all(|row| row.counts.accepted.get().is_some());
        Self {
            accepted: (is_said && is_known).then(|| rate(|row| row.counts.accepted_or_written())),
            at: rows.iter().map(|row| f64::from(row.second) + interval(row) / 2.0).collect(),
            published: rate(|row| row.counts.published),
            confirmed: rate(|row| row.counts.confirmed),
            consumed: rate(|row| row.counts.consumed),
            confirm: LatencyColumns::new(rows, |row| row.latencies.confirm_latency),
            end_to_end: LatencyColumns::new(rows, |row| row.latencies.end_to_end_latency),
            broker_cpu: rows.iter().map(|row| row.broker_cpu_cores).collect(),
            client_cpu: rows.iter().map(|row| row.client_cpu_cores).collect(),
            broker_rss: rows.iter().map(|row| row.broker_rss_bytes).collect(),
            more: more_charts(rows),
        }
    }
}

impl LatencyColumns {
    fn new(rows: &[&SecondRow], latency: fn(&SecondRow) -> Option<Percentiles>) -> Self {
        let column = |value: fn(Percentiles) -> u64| {
            rows.iter().map(|row| latency(row).filter(|point| point.count > 0).map(value)).collect()
        };
        Self {
            p50: column(|point| point.p50),
            p99: column(|point| point.p99),
            max: column(|point| point.max),
        }
    }
}

/// Returns the seconds that a row covers; a row without a length covers one.
fn interval(row: &SecondRow) -> f64 {
    if row.interval_nanos == 0 { 1.0 } else { row.interval_nanos as f64 / 1e9 }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, SecondLatencies};

    use super::*;

    #[test]
    fn counts_become_rates() {
        let point =
            Percentiles { count: 1, p50: 5, p95: 6, p99: 7, max: 8, ..Percentiles::default() };
        let rows = [
            SecondRow {
                interval_nanos: 1_000_000_000,
                counts: Counters { published: 300, ..Counters::default() },
                ..SecondRow::default()
            },
            SecondRow {
                second: 1,
                interval_nanos: 500_000_000,
                counts: Counters { published: 100, ..Counters::default() },
                latencies: SecondLatencies {
                    confirm_latency: Some(point),
                    ..SecondLatencies::default()
                },
                ..SecondRow::default()
            },
            SecondRow {
                second: 2,
                draining: true,
                counts: Counters { confirmed: 9, ..Counters::default() },
                ..SecondRow::default()
            },
        ];
        let json = serde_json::to_value(SeriesData::new(&rows)).unwrap();
        assert_eq!(json["at"], serde_json::json!([0.5, 1.25]));
        assert_eq!(json["published"], serde_json::json!([300.0, 200.0]));
        assert_eq!(json["confirm"]["p99"], serde_json::json!([null, 7]));
    }
}
