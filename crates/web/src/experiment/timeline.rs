//! Every run at its time, which shows the machine's own changes.

use rabbitscope_runs::experiment::{ExperimentResult, RunOfArm};
use rabbitscope_text::Unit;

use crate::document::{Axis, Block, Chart, Hue, Mark, MarkKind, Measure, Section, report_of};

/// Returns the section with the primary metric against time, and the shares of the CPU that neither broker nor load
/// generator used; absent without values.
pub(super) fn section(result: &ExperimentResult) -> Option<Section> {
    let metric = result.metrics.first()?;
    let begin = result.runs.iter().map(|run| run.started_unix_nanos).min()?;
    let since = |run: &RunOfArm| (run.started_unix_nanos - begin) as f64;
    let x = || Axis::linear(Unit::Nanos).label("since the first run");
    let values = Chart {
        title: metric.name.clone(),
        note: String::new(),
        x: x(),
        y: Axis::linear(Measure::from_metric(&metric.unit)),
        marks: runs(result, since),
    };
    let shares = Chart {
        title: "CPU time of others".to_owned(),
        note: String::new(),
        x: x(),
        y: Axis::linear(Unit::Share).from(0.0),
        marks: others(result, since),
    };
    let intro = format!(
        "{} of each run, in the order of the runs; hollow: in doubt. A click on a point opens the report of its run. \
         Below: the shares of the machine's CPU time that other programs used and that the host took.",
        metric.name
    );
    values.marks.iter().any(|mark| !mark.x.is_empty()).then_some(())?;
    let blocks = vec![Block::chart("runs-chart", values), Block::chart("others-chart", shares)];
    Some(Section::new("runs", "Every run in time", blocks).explained(intro))
}

/// Returns a mark for each arm, or one for all if there are more arms than colours.
fn runs(result: &ExperimentResult, since: impl Fn(&RunOfArm) -> f64) -> Vec<Mark> {
    let is_one = result.arms.len() > Hue::SERIES;
    let arms = if is_one { &result.arms[..1] } else { &result.arms[..] };
    let mut marks: Vec<Mark> = (0..arms.len())
        .map(|arm| {
            let name = if is_one { "" } else { arms[arm].name.as_str() };
            Mark::new(MarkKind::Points, name, Hue::series(arm))
        })
        .collect();
    for run in &result.runs {
        let Some(value) = run.values.first().copied().flatten() else { continue };
        let mark = &mut marks[if is_one { 0 } else { run.arm }];
        let name = format!("round {}, {}", run.round, result.arms[run.arm].name);
        let words = [&[name], &run.doubts[..]].concat().join("\n");
        mark.link.push(report_of(&run.directory));
        mark.point((since(run), value), words, !run.doubts.is_empty());
    }
    marks
}

/// Returns bars that stand on each other.
fn others(result: &ExperimentResult, since: impl Fn(&RunOfArm) -> f64) -> Vec<Mark> {
    let mut foreign = Mark::new(MarkKind::Bars, "other programs", Hue::WARN);
    let mut stolen = Mark::new(MarkKind::Bars, "the host", Hue::BAD);
    for run in &result.runs {
        let mut base = 0.0;
        for (mark, share) in [(&mut foreign, run.foreign_share), (&mut stolen, run.stolen_share)] {
            let share = share.unwrap_or(0.0);
            let percent = 100.0 * share;
            mark.x.push(Some(since(run)));
            mark.low.push(Some(base));
            base += share;
            mark.y.push(Some(base));
            mark.text.push(format!("round {}, {} {percent:.1} %", run.round, mark.name));
        }
    }
    vec![foreign, stolen]
}
