//! Latencies on the wire: a table, and the percentiles as a drawing.

use std::io::{self, Write};

use rabbitscope_text::{grouped, short_time};
use rabbitscope_wire::report::{LatencyReport, PacketReport, Unmatched};

use super::{
    table::{self, Column},
    words,
};
use crate::axis::Axis;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 220.0;

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

/// Writes the table, then the drawing.
pub(super) fn draw(out: &mut dyn Write, report: &PacketReport) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"soft\">From packet to packet, all connections together. Whose time it is holds for a capture beside \
         the broker.</p>"
    )?;
    rows(out, &report.latencies)?;
    let measured: Vec<&LatencyReport> =
        report.latencies.iter().filter(|latency| latency.percentiles.count > 0).collect();
    if !measured.is_empty() {
        picture(out, &measured)?;
    }
    Ok(())
}

fn rows(out: &mut dyn Write, latencies: &[LatencyReport]) -> io::Result<()> {
    let columns = [
        Column::text("from → to"),
        Column::number("p50"),
        Column::number("p99"),
        Column::number("p99.9").meaning("Pale where fewer than 1,000 were measured"),
        Column::number("max"),
        Column::number("mean"),
        Column::number("measured"),
        Column::number("unmatched").meaning("Frames without a partner"),
        Column::text("whose time"),
    ];
    table::head(out, "Latencies", &columns)?;
    writeln!(out, "<tbody>")?;
    latencies.iter().try_for_each(|latency| row(out, latency))?;
    writeln!(out, "</tbody>")?;
    table::foot(out)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "nanoseconds, rounded")]
fn row(out: &mut dyn Write, it: &LatencyReport) -> io::Result<()> {
    let count = it.percentiles.count;
    let known = |time: String| if count == 0 { "–".to_owned() } else { time };
    let [p50, _, p99, p999, max, measured] = it.percentiles.cells();
    let pale = if count < ENOUGH_FOR_P999 { " class=\"soft\"" } else { "" };
    let unmatched = reasons(&it.unmatched);
    writeln!(
        out,
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td{pale}>{}</td><td>{}</td><td>{}</td><td>{}</td>\
         <td title=\"{unmatched}\">{}</td><td class=\"left soft\">{}</td></tr>",
        words::latency(it.kind),
        known(p50),
        known(p99),
        known(p999),
        known(max),
        known(short_time(it.mean.round() as u64)),
        measured,
        grouped(sum(&it.unmatched)),
        words::whose(it.kind),
    )
}

fn sum(unmatched: &Unmatched) -> u64 {
    let Unmatched { open, unknown_begin, unknown_number, left_out } = *unmatched;
    [open, unknown_begin, unknown_number, left_out].into_iter().fold(0, u64::saturating_add)
}

fn reasons(unmatched: &Unmatched) -> String {
    let reasons = [
        (unmatched.open, "open when the capture ended"),
        (unmatched.unknown_begin, "begun before the capture or in a gap"),
        (unmatched.unknown_number, "with unknown numbers, as the capture began in the middle"),
        (unmatched.left_out, "more than are kept"),
    ];
    let there = reasons.into_iter().filter(|(count, _)| *count > 0);
    there.map(|(count, why)| format!("{} {why}", grouped(count))).collect::<Vec<_>>().join("; ")
}

fn picture(out: &mut dyn Write, latencies: &[&LatencyReport]) -> io::Result<()> {
    let nanos = |value: u64| value.max(1) as f64;
    let values =
        latencies.iter().flat_map(|latency| POINTS.map(|(_, value)| nanos(value(latency))));
    let y = Axis::log(values, (TOP + HEIGHT, TOP));
    let x = Axis::linear([0.0, POINTS.len() as f64 - 1.0].into_iter(), (LEFT, WIDTH - RIGHT));
    write!(out, "<p class=\"key\">")?;
    for (at, latency) in latencies.iter().enumerate() {
        write!(out, "<span><i class=\"c{}\"></i>{}</span>", at + 1, words::latency(latency.kind))?;
    }
    writeln!(
        out,
        "</p><div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Percentiles\"><svg class=\"small\" \
         viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Latencies by percentile, log scale; the table has the \
         figures\">",
        TOP + HEIGHT + 44.0
    )?;
    frame(out, &x, &y)?;
    for (at, latency) in latencies.iter().enumerate() {
        line(out, at + 1, latency, |at, value| (x.at(at), y.at(nanos(value))))?;
    }
    writeln!(out, "</svg></div>")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ticks of nanoseconds")]
fn frame(out: &mut dyn Write, x: &Axis, y: &Axis) -> io::Result<()> {
    for tick in y.ticks() {
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y.at(tick) + 4.0,
            short_time(tick.round() as u64),
            y = y.at(tick),
        )?;
    }
    for (at, (name, _)) in POINTS.iter().enumerate() {
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{name}</text>",
            x.at(at as f64),
            TOP + HEIGHT + 18.0
        )?;
    }
    writeln!(
        out,
        "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">percentile; latency on a log scale</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        TOP + HEIGHT + 38.0
    )
}

fn line(
    out: &mut dyn Write,
    hue: usize,
    latency: &LatencyReport,
    place: impl Fn(f64, u64) -> (f64, f64),
) -> io::Result<()> {
    let points = POINTS.iter().enumerate().map(|(at, (name, value))| {
        let (x, y) = place(at as f64, value(latency));
        (x, y, *name, value(latency))
    });
    let points: Vec<_> = points.collect();
    let path: Vec<String> = points.iter().map(|(x, y, ..)| format!("{x:.1},{y:.1}")).collect();
    writeln!(out, "<g class=\"c{hue}\"><path class=\"line\" d=\"M{}\"/>", path.join("L"))?;
    for (x, y, name, nanos) in points {
        writeln!(
            out,
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}, {name}: {}</title></circle>",
            words::latency(latency.kind),
            short_time(nanos)
        )?;
    }
    writeln!(out, "</g>")
}
