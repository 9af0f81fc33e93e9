//! The primary metric of an experiment: the ratio of every round, and the interval of all rounds.

use std::io::{self, Write};

use rabbitscope_analysis::experiment::percent;
use rabbitscope_runs::experiment::{Comparison, ComparisonRole, ExperimentResult};

use crate::{axis::Axis, escape::Markup};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = 20.0;
const ROW: f64 = 64.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 40.0;

/// Distance of dots from the middle of their row: rounds ascend from the top.
const SCATTER: f64 = 20.0;

/// Draws a row for each arm but the baseline, the control last.
pub(super) fn draw(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    let rows: Vec<&Comparison> =
        result.comparisons.iter().filter(|comparison| comparison.metric == 0).collect();
    let Some(baseline) = result.arms.first() else { return Ok(()) };
    let Some(metric) = result.metrics.first() else { return Ok(()) };
    let ratios = rows.iter().flat_map(|row| {
        row.differences
            .iter()
            .map(|round| round.ratio)
            .chain([row.low, row.high].into_iter().flatten())
    });
    let bands = result.indifferent.map_or([1.0, 1.0], |share| [1.0 / (1.0 + share), 1.0 + share]);
    let axis = Axis::log(ratios.chain(bands), (LEFT, WIDTH - RIGHT));
    let bottom = TOP + ROW * rows.len() as f64;
    let confidence = percent(1.0 - result.alpha);
    writeln!(
        out,
        "<h2>{} against {}, every round</h2>\n<p class=\"soft\">A dot is a round, the first at the top. The \
         diamond is the estimate, the bar its {confidence} interval. Hollow dots are rounds left out.</p>\n<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Ratios of all rounds; the table below \
         has the figures\">",
        Markup(&metric.name),
        Markup(&baseline.name),
        bottom + BOTTOM,
    )?;
    if result.indifferent.is_some() {
        let (from, to) = (axis.at(bands[0]), axis.at(bands[1]));
        writeln!(
            out,
            "<rect class=\"band\" x=\"{from:.1}\" width=\"{:.1}\" y=\"{TOP}\" height=\"{:.1}\"/>",
            to - from,
            bottom - TOP
        )?;
    }
    grid(out, &axis, bottom)?;
    for (at, comparison) in rows.iter().enumerate() {
        row(out, result, comparison, &axis, TOP + ROW * (at as f64 + 0.5))?;
    }
    writeln!(out, "</svg>")
}

fn grid(out: &mut impl Write, axis: &Axis, bottom: f64) -> io::Result<()> {
    for tick in axis.ticks() {
        let x = axis.at(tick);
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            change(tick)
        )?;
    }
    let (x, middle) = (axis.at(1.0), f64::midpoint(LEFT, WIDTH - RIGHT));
    writeln!(
        out,
        "<line class=\"one\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{bottom}\"/>\
         <text x=\"{middle}\" y=\"{:.1}\" text-anchor=\"middle\">change</text>",
        bottom + 34.0
    )
}

/// Writes a ratio as `+5 %` or `×3`.
fn change(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) {
        let percent = format!("{:+.1}", 100.0 * (ratio - 1.0));
        let percent = percent.strip_suffix(".0").unwrap_or(&percent);
        format!("{} %", percent.replace("+0", "0").replace("-0", "0"))
    } else {
        format!("×{}", (ratio * 100.0).round() / 100.0)
    }
}

fn row(
    out: &mut impl Write,
    result: &ExperimentResult,
    comparison: &Comparison,
    axis: &Axis,
    y: f64,
) -> io::Result<()> {
    let hue = comparison.arm % 8;
    let is_control = comparison.role == ComparisonRole::Control;
    let name = if is_control {
        format!("{} (control)", result.arms[comparison.arm].name)
    } else {
        result.arms[comparison.arm].name.clone()
    };
    writeln!(
        out,
        "<g class=\"c{hue}\"><text class=\"name\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LEFT - 14.0,
        y + 4.0,
        Markup(&shortened(&name))
    )?;
    let place = |round: u32| {
        let share = f64::from(round - 1) / f64::from(result.rounds.max(2) - 1);
        y - SCATTER + 2.0 * SCATTER * share.min(1.0)
    };
    for round in &comparison.differences {
        dot(
            out,
            "dot",
            axis.at(round.ratio),
            place(round.round),
            &title(round.round, round.ratio),
        )?;
    }
    for (round, ratio) in left_out(result, comparison.arm) {
        let title = format!("{}, left out", title(round, ratio));
        dot(out, "hollow", axis.at(ratio), place(round), &title)?;
    }
    if let Some((low, high)) = comparison.low.zip(comparison.high) {
        let (from, to) = (axis.at(low), axis.at(high));
        writeln!(
            out,
            "<line class=\"interval\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        )?;
    }
    if let Some(ratio) = comparison.ratio {
        let x = axis.at(ratio);
        writeln!(
            out,
            "<path class=\"estimate\" d=\"M{x:.1},{:.1}l7,7l-7,7l-7,-7z\"><title>{}</title></path>",
            y - 7.0,
            Markup(&comparison.sentence)
        )?;
    }
    writeln!(out, "</g>")
}

fn title(round: u32, ratio: f64) -> String {
    format!("round {round}: {}", change(ratio))
}

fn dot(out: &mut impl Write, class: &str, x: f64, y: f64, title: &str) -> io::Result<()> {
    writeln!(
        out,
        "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
        Markup(title)
    )
}

/// Returns the rounds in which both arms have a value although the round does not count.
fn left_out(result: &ExperimentResult, arm: usize) -> Vec<(u32, f64)> {
    let value = |round: u32, arm: usize| {
        let mut runs = result.runs.iter();
        let run = runs.find(|run| run.round == round && run.arm == arm)?;
        run.values.first().copied().flatten()
    };
    let mut rounds: Vec<u32> = result.dropped.iter().map(|dropped| dropped.round).collect();
    rounds.dedup();
    let ratio = |round| Some((round, value(round, arm)? / value(round, 0)?));
    rounds.into_iter().filter_map(ratio).collect()
}

/// Shortens a name to the room beside the drawing.
fn shortened(name: &str) -> String {
    const MAX: usize = 24;
    if name.chars().count() <= MAX {
        return name.to_owned();
    }
    name.chars().take(MAX - 1).chain(['…']).collect()
}
