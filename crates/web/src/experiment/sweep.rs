//! A sweep as curves: a metric against the first key, a colour for each value of the second.

use rabbitscope_runs::experiment::{ExperimentResult, RunOfArm, SweepAxis};
use rabbitscope_text::Unit;

use crate::document::{Axis, Block, Chart, Hue, Mark, MarkKind, Measure, Section, report_of};

/// Ratio of the largest value to the smallest from which a logarithmic scale is used.
const LOG_FROM: f64 = 20.0;

/// Returns the section of a metric.
pub(super) fn section(result: &ExperimentResult, metric: usize) -> Section {
    let facts = &result.metrics[metric];
    let key = &result.axes[0].key;
    let values = || result.runs.iter().filter_map(|run| value(run, metric));
    let y = if is_wide(values()) {
        Axis::log(Measure::from_metric(&facts.unit))
    } else {
        Axis::linear(Measure::from_metric(&facts.unit)).from(0.0)
    };
    let (x, places) = horizontal(&result.axes[0]);
    let curves = result.axes.get(1).map_or(1, |axis| axis.values.len());
    let chart = Chart {
        title: format!("{} against {key}", facts.name),
        note: String::new(),
        x: x.label(key),
        y: y.label(result.axes.get(1).map_or("", |axis| axis.key.as_str())),
        marks: (0..curves).flat_map(|curve| of_curve(result, metric, curve, &places)).collect(),
    };
    let intro = "A point is a run; the line connects the medians. Hollow: in doubt. A click on a point opens the \
                 report of its run.";
    let id = format!("metric-{metric}");
    let blocks = vec![Block::chart(format!("{id}-chart"), chart)];
    Section::new(&id, &format!("{} against {key}", facts.name), blocks).explained(intro)
}

fn value(run: &RunOfArm, metric: usize) -> Option<f64> {
    run.values.get(metric).copied().flatten()
}

fn is_wide(values: impl Iterator<Item = f64>) -> bool {
    let (low, high) =
        values.fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    low > 0.0 && high > LOG_FROM * low
}

/// Returns the axis of the first key and the places of its values: by size if they are numbers, otherwise at equal
/// distances.
fn horizontal(axis: &SweepAxis) -> (Axis, Vec<f64>) {
    let names = || axis.values.iter().map(|value| value.trim_matches('"').to_owned());
    let numbers: Option<Vec<f64>> = axis.values.iter().map(|value| value.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| numbers.iter().all(|number| number.is_finite()))
    else {
        let places = (0..axis.values.len()).map(|at| at as f64).collect();
        return (Axis::bands(names()), places);
    };
    let labels = numbers.iter().copied().zip(names()).collect();
    let scale = if is_wide(numbers.iter().copied()) {
        Axis::log(Unit::Things)
    } else {
        Axis::linear(Unit::Things)
    };
    (scale.named(labels), numbers)
}

/// Returns the runs of a curve as points, and its medians as a line.
fn of_curve(result: &ExperimentResult, metric: usize, curve: usize, places: &[f64]) -> [Mark; 2] {
    let name = result.axes.get(1).map_or("", |axis| axis.values[curve].trim_matches('"'));
    let mut points = Mark::new(MarkKind::Points, name, Hue::series(curve));
    let mut line = Mark::new(MarkKind::Line, name, Hue::series(curve));
    for (at, place) in places.iter().enumerate() {
        let is_here = |run: &&RunOfArm| {
            let cell = &result.arms[run.arm].cell;
            cell.first() == Some(&at) && cell.get(1).is_none_or(|value| *value == curve)
        };
        let mut counted = Vec::new();
        for run in result.runs.iter().filter(is_here) {
            let Some(value) = value(run, metric) else { continue };
            let words = format!("{}, round {}", result.arms[run.arm].name, run.round);
            points.link.push(report_of(&run.directory));
            points.point((*place, value), words, !run.doubts.is_empty());
            if run.doubts.is_empty() {
                counted.push(value);
            }
        }
        if let Some(median) = median(counted) {
            line.x.push(Some(*place));
            line.y.push(Some(median));
        }
    }
    [points, line]
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}
