//! The charts of a run over time.

use rabbitscope_runs::record::{RunRecord, SecondRow};
use rabbitscope_text::Unit;

use super::{
    over_time::{Line, OverTime, above_zero},
    spans::spans,
};
use crate::{
    document::{Axis, Chart, Charts},
    more_charts::more_charts,
    spectrum::spectrum,
};

/// Returns the charts for which these seconds have data.
pub(crate) fn charts_of_run(run: Option<&RunRecord>, rows: &[SecondRow]) -> Charts {
    let duration = run.map_or(0, |run| run.duration_nanos);
    let over_time = OverTime::new(rows, duration);
    let from_zero = |unit: Unit| Axis::linear(unit).from(0.0);
    let main: [Option<Chart>; 5] = [
        over_time.chart(
            "Throughput, messages a second",
            from_zero(Unit::PerSecond),
            throughput(&over_time),
        ),
        over_time.times("Confirm latency", over_time.spread(|row| row.latencies.confirm_latency)),
        over_time
            .times("End-to-end latency", over_time.spread(|row| row.latencies.end_to_end_latency)),
        over_time.chart(
            "CPU, cores",
            from_zero(Unit::Cores),
            [
                ("broker", over_time.column(|row| row.broker_cpu_cores)),
                ("rabbitscope", over_time.column(|row| row.client_cpu_cores)),
            ],
        ),
        over_time.chart(
            "Memory of the broker",
            from_zero(Unit::Bytes),
            [("resident", over_time.column(|row| row.broker_rss_bytes.map(|bytes| bytes as f64)))],
        ),
    ];
    let main = main.into_iter().flatten().chain(more_charts(&over_time));
    Charts {
        charts: main.chain(run.and_then(spectrum)).collect(),
        shared: run.map(spans).unwrap_or_default(),
    }
}

/// Returns the rates of messages. Accepted ones have a line if not every message was confirmed.
fn throughput(over_time: &OverTime<'_>) -> Vec<Line> {
    let rows = over_time.rows();
    let differ = rows.iter().any(|row| row.counts.accepted.get() != Some(row.counts.confirmed));
    let is_known = rows.iter().all(|row| row.counts.accepted.get().is_some());
    let accepted = (differ && is_known)
        .then(|| ("accepted", over_time.rates(|row| row.counts.accepted_or_written())));
    above_zero(accepted.into_iter().chain([
        ("written", over_time.rates(|row| row.counts.published)),
        ("confirmed", over_time.rates(|row| row.counts.confirmed)),
        ("consumed", over_time.rates(|row| row.counts.consumed)),
    ]))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, Percentiles, SecondLatencies};

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
        let json = serde_json::to_value(charts_of_run(None, &rows)).unwrap();
        let [rates, latencies] = [&json["charts"][0], &json["charts"][1]];
        assert_eq!(rates["marks"][0]["x"], serde_json::json!([0.5e9, 1.25e9]));
        assert_eq!(rates["marks"][0]["y"], serde_json::json!([300.0, 200.0]));
        assert_eq!(rates["marks"].as_array().unwrap().len(), 1, "nothing else above 0");
        assert_eq!(latencies["marks"][1]["y"], serde_json::json!([null, 7.0]));
        assert_eq!(json["charts"].as_array().unwrap().len(), 2);
    }
}
