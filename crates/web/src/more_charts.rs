//! Charts that only some runs have: schedules, waiting messages, connections, round trips, HTTP.

use rabbitscope_runs::record::{Percentiles, SecondRow};
use serde::Serialize;

use crate::figures::Unit;

/// One chart over time; the page draws it unchanged.
#[derive(Serialize)]
pub(crate) struct ChartData {
    title: String,
    unit: Unit,
    log: bool,
    lines: Vec<LineData>,
}

#[derive(Serialize)]
struct LineData {
    name: &'static str,
    values: Vec<Option<f64>>,
}

type Point = fn(&SecondRow) -> Option<Percentiles>;

/// Returns the charts for which these seconds have data.
pub(crate) fn more_charts(rows: &[&SecondRow]) -> Vec<ChartData> {
    let mut charts = vec![
        chart(
            "Waiting: messages",
            Unit::Messages,
            vec![
                ("unconfirmed", counts(rows, |row| Some(row.unconfirmed as f64))),
                ("in queues", counts(rows, |row| row.queue_messages.map(|count| count as f64))),
            ],
        ),
        chart(
            "Behind schedule, messages a second",
            Unit::PerSecond,
            vec![
                ("late, or overdue at the end", rates(rows, |row| row.counts.late)),
                ("late by the client", rates(rows, |row| row.counts.late_by_client)),
                ("dropped", rates(rows, |row| row.counts.dropped)),
            ],
        ),
        chart(
            "Connections made again",
            Unit::Messages,
            vec![("in this second", counts(rows, |row| Some(row.counts.reconnects as f64)))],
        ),
        both(
            "Confirm latency, p99",
            rows,
            |row| row.latencies.confirm_latency,
            |row| row.latencies.confirm_intended_latency,
        ),
        spread("Round trips", rows, |row| row.latencies.round_trip_latency),
        both(
            "Round trips, p99",
            rows,
            |row| row.latencies.round_trip_latency,
            |row| row.latencies.round_trip_intended_latency,
        ),
    ];
    charts.splice(4..4, end_to_end(rows));
    let polled = rows.iter().find(|row| !row.polls.is_empty());
    for (at, poll) in polled.iter().flat_map(|row| row.polls.iter().enumerate()) {
        let latency = |row: &SecondRow| row.polls.get(at).and_then(|poll| poll.latency);
        let intended = |row: &SecondRow| row.polls.get(at).and_then(|poll| poll.intended_latency);
        charts.push(times(
            &format!("HTTP {}", poll.name),
            vec![
                ("p50", quantiles(rows, latency, |point| point.p50)),
                ("p99", quantiles(rows, latency, |point| point.p99)),
                ("p99 from the schedule", quantiles(rows, intended, |point| point.p99)),
            ],
        ));
    }
    charts.into_iter().flatten().collect()
}

/// Returns the charts of latencies until delivered, processed and settled.
fn end_to_end(rows: &[&SecondRow]) -> [Option<ChartData>; 5] {
    [
        both(
            "End-to-end latency, p99",
            rows,
            |row| row.latencies.end_to_end_latency,
            |row| row.latencies.end_to_end_intended_latency,
        ),
        spread("End to end until processed", rows, |row| row.latencies.processed_latency),
        both(
            "End to end until processed, p99",
            rows,
            |row| row.latencies.processed_latency,
            |row| row.latencies.processed_intended_latency,
        ),
        spread("End to end until settled", rows, |row| row.latencies.settled_latency),
        both(
            "End to end until settled, p99",
            rows,
            |row| row.latencies.settled_latency,
            |row| row.latencies.settled_intended_latency,
        ),
    ]
}

fn chart(
    title: &str,
    unit: Unit,
    lines: Vec<(&'static str, Vec<Option<f64>>)>,
) -> Option<ChartData> {
    let has_values =
        |values: &[Option<f64>]| values.iter().any(|value| value.is_some_and(|value| value > 0.0));
    let lines = lines.into_iter().filter(|(_, values)| has_values(values));
    let lines: Vec<_> = lines.map(|(name, values)| LineData { name, values }).collect();
    (!lines.is_empty()).then(|| ChartData { title: title.to_owned(), unit, log: false, lines })
}

fn times(title: &str, lines: Vec<(&'static str, Vec<Option<f64>>)>) -> Option<ChartData> {
    let chart = chart(&format!("{title}, log scale"), Unit::Nanos, lines)?;
    Some(ChartData { log: true, ..chart })
}

/// Returns latencies from sending and from the schedule; absent if there was no schedule.
fn both(title: &str, rows: &[&SecondRow], actual: Point, intended: Point) -> Option<ChartData> {
    rows.iter().find_map(|row| intended(row))?;
    times(
        title,
        vec![
            ("from sending", quantiles(rows, actual, |point| point.p99)),
            ("from the schedule", quantiles(rows, intended, |point| point.p99)),
            (
                "the client's own delay",
                quantiles(rows, |row| row.latencies.client_delay, |point| point.p99),
            ),
        ],
    )
}

fn spread(title: &str, rows: &[&SecondRow], latency: Point) -> Option<ChartData> {
    times(
        title,
        vec![
            ("p50", quantiles(rows, latency, |point| point.p50)),
            ("p99", quantiles(rows, latency, |point| point.p99)),
            ("max", quantiles(rows, latency, |point| point.max)),
        ],
    )
}

fn counts(rows: &[&SecondRow], count: fn(&SecondRow) -> Option<f64>) -> Vec<Option<f64>> {
    rows.iter().map(|row| count(row)).collect()
}

fn rates(rows: &[&SecondRow], count: fn(&SecondRow) -> u64) -> Vec<Option<f64>> {
    let rate = |row: &&SecondRow| {
        let seconds = row.interval_nanos as f64 / 1e9;
        (seconds > 0.0).then(|| (10.0 * count(row) as f64 / seconds).round() / 10.0)
    };
    rows.iter().map(rate).collect()
}

fn quantiles(
    rows: &[&SecondRow],
    latency: impl Fn(&SecondRow) -> Option<Percentiles>,
    value: fn(Percentiles) -> u64,
) -> Vec<Option<f64>> {
    let point = |row: &&SecondRow| latency(row).filter(|point| point.count > 0);
    rows.iter().map(|row| point(row).map(|point| value(point) as f64)).collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::PollPoint;

    use rabbitscope_runs::record::{Counters, SecondLatencies};

    use super::*;

    #[test]
    fn only_charts_with_values_are_there() {
        let point = Percentiles { count: 1, p50: 5, p99: 7, max: 8, ..Percentiles::default() };
        let poll = PollPoint { name: "q".to_owned(), latency: Some(point), ..PollPoint::default() };
        let row = SecondRow {
            interval_nanos: 500_000_000,
            polls: vec![poll],
            counts: Counters { late: 3, ..Counters::default() },
            latencies: SecondLatencies {
                confirm_latency: Some(point),
                ..SecondLatencies::default()
            },
            ..SecondRow::default()
        };
        let json = serde_json::to_value(more_charts(&[&row])).unwrap();
        let titles: Vec<_> =
            json.as_array().unwrap().iter().map(|chart| chart["title"].clone()).collect();
        assert_eq!(titles, ["Behind schedule, messages a second", "HTTP q, log scale"]);
        assert_eq!(json[0]["lines"][0]["values"], serde_json::json!([6.0]));
        assert_eq!(json[1]["lines"].as_array().unwrap().len(), 2, "nothing from the schedule");
        assert!(more_charts(&[]).is_empty());
    }
}
