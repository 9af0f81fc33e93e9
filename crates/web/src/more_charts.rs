//! Charts that only some runs have: schedules, waiting messages, connections, round trips, HTTP.

use rabbitscope_runs::record::{Gauge, Latency, Percentiles, SecondLatencies, SecondRow, gauges};
use rabbitscope_text::Unit;
use serde::Serialize;

use crate::checks::capitalised;

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

/// Latencies with charts here. Those from write to confirm and to delivery have charts of their own.
const LATENCIES: [(Latency, Latency); 5] = [
    (Latency::Confirm, Latency::ConfirmIntended),
    (Latency::EndToEnd, Latency::EndToEndIntended),
    (Latency::Processed, Latency::ProcessedIntended),
    (Latency::Settled, Latency::SettledIntended),
    (Latency::RoundTrip, Latency::RoundTripIntended),
];

/// Returns the charts for which these seconds have data.
pub(crate) fn more_charts(rows: &[&SecondRow]) -> Vec<ChartData> {
    let mut charts = of_gauges(rows);
    charts.push(behind_schedule(rows));
    let reconnects = column(rows, |row| Some(row.counts.reconnects as f64));
    charts.push(chart(
        "Connections made again",
        Unit::Things,
        vec![("in this second", reconnects)],
    ));
    for (actual, intended) in LATENCIES {
        let has_own = matches!(actual, Latency::Confirm | Latency::EndToEnd);
        charts.push(spread(rows, actual).filter(|_| !has_own));
        charts.push(both(rows, actual, intended));
    }
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

/// Returns a chart for the gauges of each title.
fn of_gauges(rows: &[&SecondRow]) -> Vec<Option<ChartData>> {
    let drawn: Vec<Gauge> = gauges().filter(|gauge| !gauge.chart.is_empty()).collect();
    let charts = drawn.chunk_by(|one, other| one.chart == other.chart);
    let line = |gauge: &Gauge| (gauge.id.title, column(rows, |row| gauge.value(row)));
    charts.map(|of| chart(of[0].chart, of[0].id.unit, of.iter().map(line).collect())).collect()
}

fn behind_schedule(rows: &[&SecondRow]) -> Option<ChartData> {
    chart(
        "Behind schedule, messages a second",
        Unit::PerSecond,
        vec![
            ("late, or overdue at the end", rates(rows, |row| row.counts.late)),
            ("late by the client", rates(rows, |row| row.counts.late_by_client)),
            ("dropped", rates(rows, |row| row.counts.dropped)),
        ],
    )
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
fn both(rows: &[&SecondRow], actual: Latency, intended: Latency) -> Option<ChartData> {
    let p99 = |of: Latency| latencies(rows, of, |point| point.p99);
    rows.iter().find_map(|row| (SecondLatencies::of(intended).value)(&row.latencies))?;
    times(
        &format!("{}, p99", title(actual)),
        vec![
            ("from sending", p99(actual)),
            ("from the schedule", p99(intended)),
            ("the client's own delay", p99(Latency::ClientDelay)),
        ],
    )
}

fn spread(rows: &[&SecondRow], latency: Latency) -> Option<ChartData> {
    times(
        &title(latency),
        vec![
            ("p50", latencies(rows, latency, |point| point.p50)),
            ("p99", latencies(rows, latency, |point| point.p99)),
            ("max", latencies(rows, latency, |point| point.max)),
        ],
    )
}

fn title(latency: Latency) -> String {
    capitalised(SecondLatencies::of(latency).id.title)
}

fn column(rows: &[&SecondRow], value: impl Fn(&SecondRow) -> Option<f64>) -> Vec<Option<f64>> {
    rows.iter().map(|row| value(row)).collect()
}

fn latencies(
    rows: &[&SecondRow],
    latency: Latency,
    value: fn(Percentiles) -> u64,
) -> Vec<Option<f64>> {
    quantiles(rows, |row| (SecondLatencies::of(latency).value)(&row.latencies), value)
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

    use rabbitscope_runs::record::{Counters, NodeFigures};

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

    #[test]
    fn every_node_figure_is_drawn() {
        let node = Some(NodeFigures::from_answer(|_| Some(7)));
        let row = SecondRow { node, ..SecondRow::default() };
        let charts = more_charts(&[&row]);
        let lines: usize = charts.iter().map(|chart| chart.lines.len()).sum();
        assert_eq!(lines, NodeFigures::ALL.len());
    }
}
