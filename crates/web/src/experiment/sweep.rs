//! A sweep as curves: a metric against the first key, a colour for each value of the second.

use std::io::{self, Write};

use rabbitscope_analysis::experiment::value_in_words;
use rabbitscope_runs::experiment::{ExperimentResult, RunOfArm, SweepAxis};

use super::grid::rules;
use crate::{axis::Axis, escape::Markup};

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 300.0;

/// Ratio of the largest value to the smallest from which a logarithmic scale is used.
const LOG_FROM: f64 = 20.0;

/// Draws each metric.
pub(super) fn draw(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    (0..result.metrics.len()).try_for_each(|metric| curves(out, result, metric))
}

fn curves(out: &mut impl Write, result: &ExperimentResult, metric: usize) -> io::Result<()> {
    let facts = &result.metrics[metric];
    let value = |run: &RunOfArm| run.values.get(metric).copied().flatten();
    let counted: Vec<&RunOfArm> = result.runs.iter().filter(|run| value(run).is_some()).collect();
    let values = || counted.iter().filter_map(|run| value(run));
    let (low, high) =
        values().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let y = if high > LOG_FROM * low {
        Axis::log(values(), (TOP + HEIGHT, TOP))
    } else {
        Axis::linear(values().chain([0.0]), (TOP + HEIGHT, TOP))
    };
    let places = places(&result.axes[0]);
    writeln!(
        out,
        "<h2>{} against {}</h2>\n<p class=\"soft\">A dot is a run; the line connects the medians. Hollow: in \
         doubt.</p>",
        Markup(&facts.name),
        Markup(&result.axes[0].key)
    )?;
    key(out, result)?;
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"Curves of the sweep; experiment.csv has the \
         figures\">",
        TOP + HEIGHT + 40.0
    )?;
    frame(out, &y, &facts.unit, (&result.axes[0], &places))?;
    for curve in 0..result.axes.get(1).map_or(1, |axis| axis.values.len()) {
        draw_curve(out, result, &counted, (metric, curve), (&places, &y))?;
    }
    writeln!(out, "</svg>")
}

/// Returns the places of the first key's values: by size if they are numbers, otherwise at equal distances.
fn places(axis: &SweepAxis) -> Vec<f64> {
    let ends = (LEFT + 20.0, WIDTH - RIGHT - 20.0);
    let numbers: Option<Vec<f64>> = axis.values.iter().map(|value| value.parse().ok()).collect();
    let Some(numbers) = numbers else {
        let step = (ends.1 - ends.0) / (axis.values.len() as f64 - 1.0);
        return (0..axis.values.len()).map(|index| ends.0 + step * index as f64).collect();
    };
    let (low, high) = numbers
        .iter()
        .fold((f64::MAX, f64::MIN), |(low, high), number| (low.min(*number), high.max(*number)));
    let scale = if low > 0.0 && high > LOG_FROM * low {
        Axis::log(numbers.iter().copied(), ends)
    } else {
        Axis::linear(numbers.iter().copied(), ends)
    };
    numbers.into_iter().map(|number| scale.at(number)).collect()
}

fn key(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    let Some(axis) = result.axes.get(1) else { return Ok(()) };
    write!(out, "<p class=\"key\"><span class=\"soft\">{}:</span>", Markup(&axis.key))?;
    for (at, value) in axis.values.iter().enumerate() {
        write!(
            out,
            "<span class=\"c{}\"><i></i>{}</span>",
            hue(at),
            Markup(value.trim_matches('"'))
        )?;
    }
    writeln!(out, "</p>")
}

fn hue(curve: usize) -> usize {
    1 + curve % 7
}

fn frame(
    out: &mut impl Write,
    y: &Axis,
    unit: &str,
    (axis, places): (&SweepAxis, &[f64]),
) -> io::Result<()> {
    rules(out, y, (LEFT, WIDTH - RIGHT), unit)?;
    let mut last = f64::MIN;
    for (value, place) in axis.values.iter().zip(places) {
        let value = value.trim_matches('"');
        let width = 8.0 * value.chars().count() as f64;
        // Names that would overlap are left out. The dots have them.
        if place - width / 2.0 > last {
            writeln!(
                out,
                "<text x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                TOP + HEIGHT + 18.0,
                Markup(value)
            )?;
            last = place + width / 2.0;
        }
    }
    writeln!(
        out,
        "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        TOP + HEIGHT + 36.0,
        Markup(&axis.key)
    )
}

fn draw_curve(
    out: &mut impl Write,
    result: &ExperimentResult,
    runs: &[&RunOfArm],
    (metric, curve): (usize, usize),
    (places, y): (&[f64], &Axis),
) -> io::Result<()> {
    writeln!(out, "<g class=\"c{}\">", hue(curve))?;
    let mut medians = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let is_here = |run: &&&RunOfArm| {
            let cell = &result.arms[run.arm].cell;
            cell.first() == Some(&at) && cell.get(1).is_none_or(|value| *value == curve)
        };
        let mut values = Vec::new();
        for run in runs.iter().filter(is_here) {
            let Some(value) = run.values.get(metric).copied().flatten() else { continue };
            let class = if run.doubts.is_empty() { "dot" } else { "hollow" };
            let words = format!(
                "{}, round {}: {}",
                result.arms[run.arm].name,
                run.round,
                value_in_words(value, &result.metrics[metric].unit)
            );
            writeln!(
                out,
                "<circle class=\"{class}\" cx=\"{place:.1}\" cy=\"{:.1}\" r=\"4\"><title>{}</title></circle>",
                y.at(value),
                Markup(&words)
            )?;
            if run.doubts.is_empty() {
                values.push(value);
            }
        }
        medians.extend(median(values).map(|value| (*place, y.at(value))));
    }
    let line: Vec<String> = medians.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    if !line.is_empty() {
        writeln!(out, "<path class=\"median\" d=\"M{}\"/>", line.join("L"))?;
    }
    writeln!(out, "</g>")
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}
