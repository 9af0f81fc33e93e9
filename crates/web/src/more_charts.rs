//! Charts that only some runs have: schedules, waiting messages, connections, round trips, HTTP.

use rabbitscope_runs::record::{Gauge, Latency, SecondLatencies, SecondRow, gauges};
use rabbitscope_text::Unit;

use crate::{
    checks::capitalised,
    document::{Axis, Chart},
    page::over_time::{OverTime, above_zero},
};

/// Latencies with charts here. Those from write to confirm and to delivery have charts of their own.
const LATENCIES: [(Latency, Latency); 5] = [
    (Latency::Confirm, Latency::ConfirmIntended),
    (Latency::EndToEnd, Latency::EndToEndIntended),
    (Latency::Processed, Latency::ProcessedIntended),
    (Latency::Settled, Latency::SettledIntended),
    (Latency::RoundTrip, Latency::RoundTripIntended),
];

/// Returns the charts for which these seconds have data.
pub(crate) fn more_charts(over_time: &OverTime<'_>) -> Vec<Chart> {
    let mut charts = of_gauges(over_time);
    charts.push(behind_schedule(over_time));
    charts.push(over_time.chart(
        "Connections made again",
        Axis::linear(Unit::Things).from(0.0),
        above_zero([(
            "in this second",
            over_time.column(|row| Some(row.counts.reconnects as f64)),
        )]),
    ));
    for (actual, intended) in LATENCIES {
        let has_own = matches!(actual, Latency::Confirm | Latency::EndToEnd);
        let of = |row: &SecondRow| (SecondLatencies::of(actual).value)(&row.latencies);
        charts.push(over_time.times(&title(actual), over_time.spread(of)).filter(|_| !has_own));
        charts.push(both(over_time, actual, intended));
    }
    let polled = over_time.rows().iter().find(|row| !row.polls.is_empty());
    for (at, poll) in polled.iter().flat_map(|row| row.polls.iter().enumerate()) {
        charts.push(of_poll(over_time, at, &poll.name));
    }
    charts.into_iter().flatten().collect()
}

fn of_poll(over_time: &OverTime<'_>, at: usize, name: &str) -> Option<Chart> {
    let latency = |row: &SecondRow| row.polls.get(at).and_then(|poll| poll.latency);
    let intended = |row: &SecondRow| row.polls.get(at).and_then(|poll| poll.intended_latency);
    over_time.times(
        &format!("HTTP {name}"),
        [
            ("p50", over_time.quantiles(latency, |point| point.p50)),
            ("p99", over_time.quantiles(latency, |point| point.p99)),
            ("p99 from the schedule", over_time.quantiles(intended, |point| point.p99)),
        ],
    )
}

/// Returns a chart for the gauges of each title.
fn of_gauges(over_time: &OverTime<'_>) -> Vec<Option<Chart>> {
    let drawn: Vec<Gauge> = gauges().filter(|gauge| !gauge.chart.is_empty()).collect();
    let charts = drawn.chunk_by(|one, other| one.chart == other.chart);
    let line = |gauge: &Gauge| (gauge.id.title, over_time.column(|row| gauge.value(row)));
    let chart = |of: &[Gauge]| {
        let lines = above_zero(of.iter().map(line));
        over_time.chart(of[0].chart, Axis::linear(of[0].id.unit).from(0.0), lines)
    };
    charts.map(chart).collect()
}

fn behind_schedule(over_time: &OverTime<'_>) -> Option<Chart> {
    over_time.chart(
        "Behind schedule, messages a second",
        Axis::linear(Unit::PerSecond).from(0.0),
        above_zero([
            ("late, or overdue at the end", over_time.rates(|row| row.counts.late)),
            ("late by the client", over_time.rates(|row| row.counts.late_by_client)),
            ("dropped", over_time.rates(|row| row.counts.dropped)),
        ]),
    )
}

/// Returns latencies from sending and from the schedule; absent if there was no schedule.
fn both(over_time: &OverTime<'_>, actual: Latency, intended: Latency) -> Option<Chart> {
    let of = |latency: Latency| {
        let value = SecondLatencies::of(latency).value;
        over_time.quantiles(move |row| value(&row.latencies), |point| point.p99)
    };
    let has_schedule =
        |row: &&SecondRow| (SecondLatencies::of(intended).value)(&row.latencies).is_some();
    over_time.rows().iter().find(|row| has_schedule(row))?;
    over_time.times(
        &format!("{}, p99", title(actual)),
        [
            ("from sending", of(actual)),
            ("from the schedule", of(intended)),
            ("the client's own delay", of(Latency::ClientDelay)),
        ],
    )
}

fn title(latency: Latency) -> String {
    capitalised(SecondLatencies::of(latency).id.title)
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{Counters, NodeFigures, Percentiles, PollPoint};

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
        let json = serde_json::to_value(more_charts(&OverTime::new(&[row], 0))).unwrap();
        let titles: Vec<_> =
            json.as_array().unwrap().iter().map(|chart| chart["title"].clone()).collect();
        assert_eq!(titles, ["Behind schedule, messages a second", "HTTP q, log scale"]);
        assert_eq!(json[0]["marks"][0]["y"], serde_json::json!([6.0]));
        assert_eq!(json[1]["marks"].as_array().unwrap().len(), 2, "nothing from the schedule");
        assert!(more_charts(&OverTime::new(&[], 0)).is_empty());
    }

    #[test]
    fn every_node_figure_is_drawn() {
        let node = Some(NodeFigures::from_answer(|_| Some(7)));
        let row = SecondRow { node, ..SecondRow::default() };
        let charts = more_charts(&OverTime::new(&[row], 0));
        let lines: usize = charts.iter().map(|chart| chart.marks.len()).sum();
        assert_eq!(lines, NodeFigures::ALL.len());
    }
}
