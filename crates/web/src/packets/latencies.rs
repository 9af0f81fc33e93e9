//! Latencies on the wire: a table, and the percentiles as a chart.

use rabbitscope_text::{Unit, grouped};
use rabbitscope_wire::report::{LatencyReport, PacketReport, Unmatched};

use super::words;
use crate::document::{Axis, Block, Cell, Chart, Column, Content, Hue, Mark, Table, Tone};

pub(super) const INTRO: &str = "From packet to packet, all connections together. The last column is right for a \
                                capture on the broker's machine.";

/// A figure of a latency, with its name.
type Point = (&'static str, fn(&LatencyReport) -> u64);

/// The drawn figures of a latency, from left to right, each with the same room.
const POINTS: [Point; 6] = [
    ("min", |latency| latency.min),
    ("p50", |latency| latency.percentiles.p50),
    ("p95", |latency| latency.percentiles.p95),
    ("p99", |latency| latency.percentiles.p99),
    ("p99.9", |latency| latency.percentiles.p999),
    ("max", |latency| latency.percentiles.max),
];

/// Minimum number of measurements for a meaningful p99.9.
const ENOUGH_FOR_P999: u64 = 1000;

/// Returns the table, then the chart.
pub(super) fn blocks(report: &PacketReport) -> Vec<Block> {
    if report.latencies.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::text("from → to"),
        Column::number("p50"),
        Column::number("p99"),
        Column::number("p99.9").meaning("Pale if fewer than 1,000 were measured"),
        Column::number("max"),
        Column::number("mean"),
        Column::number("measured"),
        Column::number("unmatched").meaning("Frames without a partner"),
        Column::text("owner of the time"),
    ];
    let rows = report.latencies.iter().map(row).collect();
    let table = Table { label: "Latencies", columns, rows, ..Table::default() };
    let table = Block::new("latencies-table", Content::Table(table));
    std::iter::once(table).chain(chart(&report.latencies)).collect()
}

fn row(latency: &LatencyReport) -> Vec<Cell> {
    let percentiles = &latency.percentiles;
    let is_measured = percentiles.count > 0;
    let time = |nanos: f64| Cell::known(is_measured.then_some(nanos), Unit::Nanos);
    let p999 = time(percentiles.p999 as f64);
    let is_enough = percentiles.count >= ENOUGH_FOR_P999;
    vec![
        Cell::text(words::latency(latency.kind)),
        time(percentiles.p50 as f64),
        time(percentiles.p99 as f64),
        if is_enough { p999 } else { p999.tone(Tone::Soft) },
        time(percentiles.max as f64),
        time(latency.mean),
        Cell::figure(percentiles.count as f64, Unit::Things),
        Cell::figure(sum(&latency.unmatched) as f64, Unit::Things)
            .meaning(reasons(&latency.unmatched)),
        Cell::text(words::whose(latency.kind)).tone(Tone::Soft),
    ]
}

fn sum(unmatched: &Unmatched) -> u64 {
    let Unmatched { open, unknown_begin, unknown_number, left_out } = *unmatched;
    [open, unknown_begin, unknown_number, left_out].into_iter().fold(0, u64::saturating_add)
}

fn reasons(unmatched: &Unmatched) -> String {
    let reasons = [
        (unmatched.open, "open when the capture ended"),
        (unmatched.unknown_begin, "begun before the capture or in a gap"),
        (unmatched.unknown_number, "with unknown numbers, because the capture began in the middle"),
        (unmatched.left_out, "beyond the limit of kept frames"),
    ];
    let there = reasons.into_iter().filter(|(count, _)| *count > 0);
    there.map(|(count, why)| format!("{} {why}", grouped(count))).collect::<Vec<_>>().join("; ")
}

fn chart(latencies: &[LatencyReport]) -> Option<Block> {
    let measured = latencies.iter().filter(|latency| latency.percentiles.count > 0);
    let marks: Vec<Mark> = measured.enumerate().map(|(at, latency)| line(at, latency)).collect();
    (!marks.is_empty()).then_some(())?;
    let named = POINTS.iter().enumerate();
    let named = named.map(|(at, (name, _))| (at as f64, (*name).to_owned())).collect();
    let chart = Chart {
        title: "Latencies by percentile, log scale".to_owned(),
        note: String::new(),
        x: Axis::linear(Unit::Things).label("figure").named(named),
        y: Axis::log(Unit::Nanos),
        marks,
    };
    Some(Block::chart("latencies-chart", chart))
}

fn line(at: usize, latency: &LatencyReport) -> Mark {
    let values = POINTS.iter().map(|(_, value)| Some(value(latency).max(1) as f64)).collect();
    let places = (0..POINTS.len()).map(|place| place as f64);
    let line = Mark::line(words::latency(latency.kind), Hue::series(at), places, values);
    Mark { text: POINTS.iter().map(|(name, _)| (*name).to_owned()).collect(), ..line }
}
