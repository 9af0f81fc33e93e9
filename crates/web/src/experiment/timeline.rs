//! Every run at its time, which shows the machine's own changes.

use std::io::{self, Write};

use rabbitscope_analysis::experiment::value_in_words;
use rabbitscope_runs::experiment::{ExperimentResult, RunOfArm};

use super::grid::rules;
use crate::{axis::Axis, escape::Markup};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 240.0;

/// Height of the strip below the values: the CPU time of other processes.
const STRIP: f64 = 40.0;
const GAP: f64 = 14.0;

/// Number of arms above which all look alike: readers cannot distinguish twenty colours.
pub(super) const MAX_COLOURS: usize = 8;

/// Draws the primary metric against time. The strip below shows the share of the CPU that neither broker nor load
/// generator used.
pub(super) fn draw(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    let Some(metric) = result.metrics.first() else { return Ok(()) };
    let value = |run: &RunOfArm| run.values.first().copied().flatten();
    let Some(begin) = result.runs.iter().map(|run| run.started_unix_nanos).min() else {
        return Ok(());
    };
    let minutes = |run: &RunOfArm| (run.started_unix_nanos - begin) as f64 / 60e9;
    let x = Axis::linear(result.runs.iter().map(minutes), (LEFT, WIDTH - RIGHT));
    let y = Axis::linear(result.runs.iter().filter_map(value), (TOP + HEIGHT, TOP));
    let bottom = TOP + HEIGHT + GAP + STRIP;
    writeln!(
        out,
        "<h2>Every run in time</h2>\n<p class=\"soft\">{} of each run, in the order of the runs. Below: the shares of \
         the machine's CPU time that other programs used and that the host took.</p>",
        Markup(&metric.name)
    )?;
    key(out, result)?;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Values of all runs in time; experiment.csv has the \
         figures\">",
        bottom + 36.0
    )?;
    rules(out, &y, (LEFT, WIDTH - RIGHT), &metric.unit)?;
    for tick in x.ticks().into_iter().filter(|tick| *tick >= 0.0) {
        writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x.at(tick),
            bottom + 16.0,
            minutes_in_words(tick)
        )?;
    }
    writeln!(
        out,
        "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"middle\">minutes</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        bottom + 32.0
    )?;
    for run in &result.runs {
        if let Some(value) = value(run) {
            dot(out, result, run, (x.at(minutes(run)), y.at(value)), value)?;
        }
        shares(out, run, x.at(minutes(run)), bottom)?;
    }
    writeln!(out, "</svg>")
}

/// Writes minutes as `0`, `2.5`, `0.05`.
fn minutes_in_words(minutes: f64) -> String {
    let text = format!("{:.2}", minutes.abs());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn hue(result: &ExperimentResult, arm: usize) -> usize {
    if result.arms.len() > MAX_COLOURS { 1 } else { arm }
}

fn key(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    if result.arms.len() > MAX_COLOURS {
        return Ok(());
    }
    write!(out, "<p class=\"key\">")?;
    for (at, arm) in result.arms.iter().enumerate() {
        write!(out, "<span class=\"c{at}\"><i></i>{}</span>", Markup(&arm.name))?;
    }
    writeln!(out, "<span class=\"soft\">hollow: in doubt</span></p>")
}

fn dot(
    out: &mut impl Write,
    result: &ExperimentResult,
    run: &RunOfArm,
    (x, y): (f64, f64),
    value: f64,
) -> io::Result<()> {
    let class = if run.doubts.is_empty() { "dot" } else { "hollow" };
    let figure = format!(
        "round {}, {}: {}",
        run.round,
        result.arms[run.arm].name,
        value_in_words(value, &result.metrics[0].unit)
    );
    let words = [&[figure], &run.doubts[..]].concat().join("; ");
    writeln!(
        out,
        "<circle class=\"{class} c{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{}</title></circle>",
        hue(result, run.arm),
        Markup(&words)
    )
}

/// Draws bars that grow from the bottom of the strip: a quarter of the machine fills it.
fn shares(out: &mut impl Write, run: &RunOfArm, x: f64, bottom: f64) -> io::Result<()> {
    let mut base = bottom;
    for (class, share) in [("foreign", run.foreign_share), ("stolen", run.stolen_share)] {
        let Some(share) = share.filter(|share| *share > 0.0) else { continue };
        let height = (4.0 * share * STRIP).min(base - (bottom - STRIP));
        base -= height;
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" width=\"4\" y=\"{base:.1}\" height=\"{height:.1}\"><title>round {}: \
             {class} {:.1} %</title></rect>",
            x - 2.0,
            run.round,
            100.0 * share
        )?;
    }
    Ok(())
}
