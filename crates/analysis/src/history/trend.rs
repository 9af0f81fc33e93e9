//! Trends of a figure over comparable runs, with change points.

use std::collections::BTreeMap;

use rabbitscope_analysis::history::change_points;
use rabbitscope_runs::record::Verdict;
use serde::Serialize;

use super::{Contents, Entry, Figure, Listing, RunFacts};

/// The values of a figure in the order of the runs, oldest first. All runs have the same scenario, broker and machine
/// and ended as the scenario asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Trend<'a> {
    /// Name of the scenario.
    pub(crate) name: &'a str,
    /// Version of the broker and of its platform.
    pub(crate) broker: String,
    /// CPU and number of CPUs.
    pub(crate) machine: String,
    /// The figure.
    pub(crate) figure: Figure,
    /// Its values.
    pub(crate) points: Vec<Point<'a>>,
    /// Runs at which the figure changed for good.
    pub(crate) changes: Vec<Change<'a>>,
}

/// One run.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Point<'a> {
    /// Its directory.
    pub(crate) path: &'a str,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub(crate) started_unix_nanos: u64,
    /// Value in messages per second or nanoseconds.
    pub(crate) value: f64,
}

/// A lasting change.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Change<'a> {
    /// Directory of the first run after it.
    pub(crate) path: &'a str,
    /// Start of this run, nanoseconds since 1970-01-01 UTC.
    pub(crate) started_unix_nanos: u64,
    /// Mean before.
    pub(crate) before: f64,
    /// Mean after.
    pub(crate) after: f64,
    /// p-value for no change.
    pub(crate) p_value: f64,
}

/// Returns the trends of a figure, one for each group of comparable runs, by scenario and time.
pub(crate) fn trends(listing: &Listing, figure: Figure) -> Vec<Trend<'_>> {
    let mut groups: BTreeMap<_, Vec<(&Entry, &RunFacts)>> = BTreeMap::new();
    // The oldest first.
    for entry in listing.entries.iter().rev() {
        if let Contents::Run(run) = &entry.contents
            && run.verdict == Verdict::Completed
        {
            let broker = format!("{} {}", run.broker.version, run.broker.platform);
            let machine = format!("{} × {}", run.machine.cpus, run.machine.cpu);
            let key = (run.name.as_str(), run.scenario, broker, machine);
            groups.entry(key).or_default().push((entry, run));
        }
    }
    let trends = groups.into_iter().map(|((name, _, broker, machine), runs)| {
        let points = runs.iter().filter_map(|(entry, run)| point(entry, run, figure));
        let points: Vec<Point<'_>> = points.collect();
        let changes = changes(&points);
        Trend { name, broker, machine, figure, points, changes }
    });
    trends.filter(|trend| !trend.points.is_empty()).collect()
}

fn point<'a>(entry: &'a Entry, run: &RunFacts, figure: Figure) -> Option<Point<'a>> {
    let value = figure.value(run)?;
    Some(Point { path: &entry.path, started_unix_nanos: run.started_unix_nanos, value })
}

fn changes<'a>(points: &[Point<'a>]) -> Vec<Change<'a>> {
    let values: Vec<f64> = points.iter().map(|point| point.value).collect();
    let found = change_points(&values).into_iter().map(|change| {
        let Point { path, started_unix_nanos, .. } = points[change.index];
        let (before, after, p_value) = (change.before, change.after, change.p_value);
        Change { path, started_unix_nanos, before, after, p_value }
    });
    found.collect()
}
