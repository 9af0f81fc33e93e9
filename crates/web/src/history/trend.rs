//! The trend of a figure as a chart for each scenario: its runs in order, the means between lasting changes, and marks
//! where scenario, broker or machine changed.

use std::{collections::HashMap, time::Duration};

use rabbitscope_analysis::history::{Contents, Entry, Figure, RunFacts, Trend, trends};
use rabbitscope_runs::record::Verdict;
use rabbitscope_text::{Unit, display_utc};

use super::links::page_of;
use crate::document::{Axis, Chart, Hue, Mark, MarkKind};

/// Maximum number of charts: those of the scenarios with the newest runs.
const MAX_CHARTS: usize = 3;

/// Maximum number of runs in a chart, the newest ones.
const MAX_POINTS: usize = 2000;

/// Maximum number of marks of a kind. With more of them, runs take turns, and marks say nothing.
const MAX_MARKS: usize = 30;

/// Number of dates on the axis.
const DATES: usize = 5;

/// Returns the charts of the scenarios with the newest runs. The entries are the newest first.
pub(super) fn charts(shown: &[&Entry], figure: Figure) -> Vec<Chart> {
    let mut names: Vec<&str> = Vec::new();
    for entry in shown.iter().filter(|entry| value(entry, figure).is_some()) {
        if !names.contains(&entry.name()) && names.len() < MAX_CHARTS {
            names.push(entry.name());
        }
    }
    names.into_iter().map(|name| chart(shown, name, figure)).collect()
}

/// Returns the run with its figure; absent if it did not end as its scenario asked, or lacks the figure.
fn value(entry: &Entry, figure: Figure) -> Option<(&RunFacts, f64)> {
    match &entry.contents {
        Contents::Run(run) if run.verdict == Verdict::Completed => Some((run, figure.value(run)?)),
        _ => None,
    }
}

/// A run in a chart.
struct Placed<'a> {
    entry: &'a Entry,
    run: &'a RunFacts,
    value: f64,
}

fn chart(shown: &[&Entry], name: &str, figure: Figure) -> Chart {
    let newest = shown.iter().filter(|entry| entry.name() == name);
    let newest = newest
        .filter_map(|entry| value(entry, figure).map(|(run, value)| Placed { entry, run, value }));
    let mut runs: Vec<Placed<'_>> = newest.take(MAX_POINTS).collect();
    runs.reverse();
    let place: HashMap<&str, f64> =
        runs.iter().enumerate().map(|(at, run)| (run.entry.path.as_str(), at as f64)).collect();
    let mut trends = trends(runs.iter().rev().map(|run| run.entry), figure);
    trends.sort_by_key(|trend| trend.points.first().map(|point| point.started_unix_nanos));
    let mut marks = configuration_marks(&runs);
    marks.push(change_marks(&trends, &place));
    marks.push(means(&trends, &place));
    marks.extend(points(&runs));
    marks.retain(|mark| !mark.x.is_empty());
    Chart {
        title: format!("{name}: {}", figure.name()),
        note: String::new(),
        x: Axis::linear(Unit::Things).named(dates(&runs)).label(format!("runs of {name}")),
        y: Axis::linear(figure.unit()),
        marks,
    }
}

/// Returns the points, in a colour for each version of the broker.
fn points(runs: &[Placed<'_>]) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (at, Placed { entry, run, value }) in runs.iter().enumerate() {
        let name = format!("{} {}", run.broker.product, run.broker.version);
        let known = marks.iter().position(|mark| mark.name == name);
        let which = known.unwrap_or_else(|| {
            marks.push(Mark::new(MarkKind::Points, name, Hue::series(marks.len())));
            marks.len() - 1
        });
        let started = display_utc(Duration::from_nanos(run.started_unix_nanos));
        let mut words = format!("{}\n{started}", entry.path);
        for doubt in &run.doubts {
            words.push('\n');
            words.push_str(&doubt.reason);
        }
        let page = entry.pages.iter().find(|page| *page == "report.html").or(entry.pages.first());
        marks[which].link.push(page.map(|page| page_of(entry, page)).unwrap_or_default());
        marks[which].point((at as f64, *value), words, !run.doubts.is_empty());
    }
    marks
}

/// Returns the places where scenario, broker or machine differ from the run before.
fn configuration_marks(runs: &[Placed<'_>]) -> Vec<Mark> {
    let mark = |name: &str, hue| Mark::new(MarkKind::Spans, format!("{name} changed"), hue);
    let mut marks =
        [mark("scenario", Hue::SOFT), mark("broker", Hue::WINDOW), mark("machine", Hue::BAD)];
    for (at, pair) in runs.windows(2).enumerate() {
        let [before, after] = [&pair[0], &pair[1]].map(|placed| placed.run);
        let between = at as f64 + 0.5;
        let mut add = |which: usize, text: String| marks[which].span(between, between, text);
        if before.scenario != after.scenario {
            add(0, "the scenario changed".to_owned());
        }
        let [old, new] = [before, after].map(RunFacts::broker_in_words);
        if old != new {
            add(1, format!("{old} → {new}"));
        }
        let [old, new] = [before, after].map(RunFacts::machine_in_words);
        if old != new {
            add(2, format!("{old} → {new}"));
        }
    }
    marks.into_iter().filter(|mark| mark.x.len() <= MAX_MARKS).collect()
}

/// Returns the lasting changes.
fn change_marks(trends: &[Trend<'_>], place: &HashMap<&str, f64>) -> Mark {
    let mut mark = Mark::new(MarkKind::Spans, "lasting change", Hue::WARN);
    for trend in trends {
        for change in &trend.changes {
            let Some(at) = place.get(change.path) else { continue };
            let [before, after] =
                [change.before, change.after].map(|value| trend.figure.display(value));
            let percent = (change.after / change.before - 1.0) * 100.0;
            mark.span(at - 0.5, at - 0.5, format!("{before} → {after} ({percent:+.1} %)"));
        }
    }
    mark
}

/// Returns the means between changes as a line with gaps.
fn means(trends: &[Trend<'_>], place: &HashMap<&str, f64>) -> Mark {
    let mut mark = Mark::new(MarkKind::Line, "mean between changes", Hue::SOFT);
    for trend in trends {
        let sound: Vec<_> = trend.points.iter().filter(|point| !point.in_doubt).collect();
        let is_change = |path: &str| trend.changes.iter().any(|change| change.path == path);
        for part in sound.chunk_by(|_, next| !is_change(next.path)) {
            let mean = part.iter().map(|point| point.value).sum::<f64>() / part.len() as f64;
            let ends = [part[0].path, part[part.len() - 1].path].map(|path| place.get(path));
            for end in ends.into_iter().flatten() {
                mark.x.push(Some(*end));
                mark.y.push(Some(mean));
            }
            mark.x.push(None);
            mark.y.push(None);
        }
    }
    mark
}

/// Returns some runs with their dates.
fn dates(runs: &[Placed<'_>]) -> Vec<(f64, String)> {
    let last = runs.len().saturating_sub(1);
    let parts = last.clamp(1, DATES - 1);
    let mut places: Vec<usize> = (0..=parts).map(|part| part * last / parts).collect();
    places.dedup();
    let date = |at: usize| {
        let when = display_utc(Duration::from_nanos(runs[at].run.started_unix_nanos)).to_string();
        (at as f64, when.chars().take(10).collect())
    };
    places.into_iter().map(date).collect()
}
