//! The primary metric of an experiment: the ratio of every round, and the interval of all rounds.

use rabbitscope_analysis::experiment::percent;
use rabbitscope_runs::experiment::{Comparison, ComparisonRole, ExperimentResult, RunOfArm};

use crate::document::{Axis, Block, Chart, Hue, Mark, MarkKind, Measure, Section, report_of};

/// Distance of points from the middle of their row, as a part of it: rounds ascend from the top.
const SCATTER: f64 = 0.32;

/// Returns the section with a row for each arm but the baseline, the control last.
pub(super) fn section(result: &ExperimentResult) -> Option<Section> {
    let rows: Vec<&Comparison> =
        result.comparisons.iter().filter(|comparison| comparison.metric == 0).collect();
    let (baseline, metric) = result.arms.first().zip(result.metrics.first())?;
    let mut marks = band(result);
    for (row, comparison) in rows.iter().enumerate() {
        marks.push(rounds(result, comparison, row as f64));
        marks.push(interval(comparison, row as f64));
    }
    // Without a ratio there is nothing to see.
    let is_point = |mark: &Mark| mark.kind == MarkKind::Points && !mark.x.is_empty();
    marks.iter().any(is_point).then_some(())?;
    let title = format!("{} against {}, every round", metric.name, baseline.name);
    let chart = Chart {
        title: format!("{} against {}", metric.name, baseline.name),
        note: String::new(),
        x: Axis::log(Measure::Change).label("change"),
        y: Axis::bands(rows.iter().map(|comparison| name(result, comparison))),
        marks,
    };
    let intro = format!(
        "A point is a round, the first at the top. The diamond is the estimate, the bar its {} interval. Hollow points \
         are rounds left out. A click on a point opens the report of its run.",
        percent(1.0 - result.alpha)
    );
    let blocks = vec![Block::chart("rounds-chart", chart)];
    Some(Section::new("rounds", &title, blocks).explained(intro))
}

/// Returns the line of no change, and the changes of no interest.
fn band(result: &ExperimentResult) -> Vec<Mark> {
    let mut one = Mark::new(MarkKind::Spans, "no change", Hue::SOFT);
    one.span(1.0, 1.0, "no change".to_owned());
    let indifferent = result.indifferent.map(|share| {
        let mut mark = Mark::new(MarkKind::Spans, "of no interest", Hue::GOOD);
        mark.span(1.0 / (1.0 + share), 1.0 + share, "of no interest".to_owned());
        mark
    });
    std::iter::once(one).chain(indifferent).collect()
}

fn name(result: &ExperimentResult, comparison: &Comparison) -> String {
    let arm = &result.arms[comparison.arm].name;
    match comparison.role {
        ComparisonRole::Control => format!("{arm} (control)"),
        _ => arm.clone(),
    }
}

fn rounds(result: &ExperimentResult, comparison: &Comparison, row: f64) -> Mark {
    let mut mark = Mark::new(MarkKind::Points, "", Hue::series(comparison.arm));
    let place = |round: u32| {
        let share = f64::from(round - 1) / f64::from(result.rounds.max(2) - 1);
        row - SCATTER + 2.0 * SCATTER * share.min(1.0)
    };
    let counted = comparison.differences.iter().map(|round| (round.round, round.ratio, false));
    let left_out = left_out(result, comparison.arm).into_iter();
    for (round, ratio, hollow) in counted.chain(left_out.map(|(round, ratio)| (round, ratio, true)))
    {
        let run = run(result, round, comparison.arm);
        mark.link.push(run.map(|run| report_of(&run.directory)).unwrap_or_default());
        let note = if hollow { ", left out" } else { "" };
        mark.point((ratio, place(round)), format!("round {round}{note}"), hollow);
    }
    mark
}

fn interval(comparison: &Comparison, row: f64) -> Mark {
    Mark {
        x: vec![comparison.ratio],
        y: vec![Some(row)],
        low: vec![comparison.low],
        high: vec![comparison.high],
        text: vec![comparison.sentence.clone()],
        ..Mark::new(MarkKind::Intervals, "", Hue::series(comparison.arm))
    }
}

fn run(result: &ExperimentResult, round: u32, arm: usize) -> Option<&RunOfArm> {
    result.runs.iter().find(|run| run.round == round && run.arm == arm)
}

/// Returns the rounds in which both arms have a value although the round does not count.
fn left_out(result: &ExperimentResult, arm: usize) -> Vec<(u32, f64)> {
    let value = |round: u32, arm: usize| run(result, round, arm)?.values.first().copied().flatten();
    let mut rounds: Vec<u32> = result.dropped.iter().map(|dropped| dropped.round).collect();
    rounds.dedup();
    let ratio = |round| Some((round, value(round, arm)? / value(round, 0)?));
    rounds.into_iter().filter_map(ratio).collect()
}
