//! Trends of a figure over comparable runs, with change points.

use std::collections::BTreeMap;

use rabbitscope_runs::record::Verdict;
use serde::Serialize;

use super::{Contents, Entry, Figure, RunFacts, change_points};

/// The values of a figure in the order of the runs, oldest first. All runs have the same scenario, broker and machine
/// and ended as the scenario asked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Trend<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// Version of the broker and of its platform.
    pub broker: String,
    /// CPU and number of CPUs.
    pub machine: String,
    /// The figure.
    pub figure: Figure,
    /// Its values.
    pub points: Vec<Point<'a>>,
    /// Runs at which the figure changed for good.
    pub changes: Vec<Change<'a>>,
}

/// One run.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Point<'a> {
    /// Its directory.
    pub path: &'a str,
    /// Start, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// Value in messages per second or nanoseconds.
    pub value: f64,
    /// The run's figures are in doubt, so that it counts for no change.
    pub in_doubt: bool,
}

/// A lasting change.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Change<'a> {
    /// Directory of the first run after it.
    pub path: &'a str,
    /// Start of this run, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// Mean before.
    pub before: f64,
    /// Mean after.
    pub after: f64,
    /// p-value for no change.
    pub p_value: f64,
}

impl RunFacts {
    /// Returns the version of the broker and of its platform.
    pub fn broker_in_words(&self) -> String {
        format!("{} {}", self.broker.version, self.broker.platform)
    }

    /// Returns the number of CPUs and their model.
    pub fn machine_in_words(&self) -> String {
        format!("{} × {}", self.machine.cpus, self.machine.cpu)
    }
}

/// Returns the trends of a figure, one for each group of comparable runs, by scenario and time. The entries are the
/// newest first.
pub fn trends<'a>(
    entries: impl DoubleEndedIterator<Item = &'a Entry>,
    figure: Figure,
) -> Vec<Trend<'a>> {
    let mut groups: BTreeMap<_, Vec<Point<'a>>> = BTreeMap::new();
    for entry in entries.rev() {
        if let Contents::Run(run) = &entry.contents
            && run.verdict == Verdict::Completed
            && let Some(point) = point(entry, run, figure)
        {
            let (broker, machine) = (run.broker_in_words(), run.machine_in_words());
            let key = (run.name.as_str(), run.scenario, broker, machine);
            groups.entry(key).or_default().push(point);
        }
    }
    let trends = groups.into_iter().map(|((name, _, broker, machine), points)| {
        let changes = changes(&points);
        Trend { name, broker, machine, figure, points, changes }
    });
    trends.collect()
}

fn point<'a>(entry: &'a Entry, run: &RunFacts, figure: Figure) -> Option<Point<'a>> {
    let value = figure.value(run)?;
    let (path, started_unix_nanos) = (entry.path.as_str(), run.started_unix_nanos);
    Some(Point { path, started_unix_nanos, value, in_doubt: !run.doubts.is_empty() })
}

fn changes<'a>(points: &[Point<'a>]) -> Vec<Change<'a>> {
    let sound: Vec<Point<'a>> = points.iter().copied().filter(|point| !point.in_doubt).collect();
    let values: Vec<f64> = sound.iter().map(|point| point.value).collect();
    let found = change_points(&values).into_iter().map(|change| {
        let Point { path, started_unix_nanos, .. } = sound[change.index];
        let (before, after, p_value) = (change.before, change.after, change.p_value);
        Change { path, started_unix_nanos, before, after, p_value }
    });
    found.collect()
}
