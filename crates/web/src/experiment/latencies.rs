//! Latencies of the arms by percentile, on an axis on which each nine takes the same room.

use std::io::{self, Write};

use rabbitscope_runs::experiment::{ArmLatency, ExperimentResult};

use super::{grid::rules, timeline::MAX_COLOURS};
use crate::{axis::Axis, escape::Markup, spectrum::percentile};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 8.0;
const HEIGHT: f64 = 220.0;
const BOTTOM: f64 = 30.0;

/// Draws each latency. Draws nothing if there are more arms than colours.
pub(super) fn draw(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    if result.latencies.is_empty() || result.arms.len() > MAX_COLOURS {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Latencies of the arms</h2>\n<p class=\"soft\">A point is the median over the rounds that count. A line \
         ends at the highest percentile that every such round has enough messages for.</p>\n<p class=\"key\">"
    )?;
    for (at, arm) in result.arms.iter().enumerate() {
        write!(out, "<span class=\"c{at}\"><i></i>{}</span>", Markup(&arm.name))?;
    }
    writeln!(out, "</p>")?;
    let mut names: Vec<&str> = Vec::new();
    for latency in &result.latencies {
        if !names.contains(&latency.name.as_str()) {
            names.push(&latency.name);
        }
    }
    for name in names {
        let arms: Vec<&ArmLatency> =
            result.latencies.iter().filter(|latency| latency.name == name).collect();
        one(out, name, &arms)?;
    }
    Ok(())
}

/// Returns the place of a quantile: the median is at 0.3, p99 at 2, p99.99 at 4.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-9).log10()
}

fn one(out: &mut impl Write, name: &str, arms: &[&ArmLatency]) -> io::Result<()> {
    let points = || arms.iter().flat_map(|arm| &arm.spectrum);
    let x = Axis::linear(points().map(|point| nines(point.quantile)), (LEFT, WIDTH - RIGHT));
    let nanos = |value: u64| value.max(1) as f64;
    let y = Axis::log(points().map(|point| nanos(point.nanos)), (TOP + HEIGHT, TOP));
    writeln!(
        out,
        "<h3>{}</h3>\n<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{} by percentile\">",
        Markup(name),
        TOP + HEIGHT + BOTTOM,
        Markup(name)
    )?;
    rules(out, &y, (LEFT, WIDTH - RIGHT), "nanoseconds")?;
    for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999] {
        if points().any(|point| point.quantile >= quantile) {
            writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                x.at(nines(quantile)),
                TOP + HEIGHT + 18.0,
                percentile(quantile)
            )?;
        }
    }
    for arm in arms {
        let place = |point: &rabbitscope_runs::record::SpectrumPoint| {
            format!("{:.1},{:.1}", x.at(nines(point.quantile)), y.at(nanos(point.nanos)))
        };
        let places: Vec<String> = arm.spectrum.iter().map(place).collect();
        writeln!(out, "<path class=\"median c{}\" d=\"M{}\"/>", arm.arm, places.join("L"))?;
    }
    writeln!(out, "</svg>")
}
