//! Differences of CPU time, by thread, function and Erlang process.

use std::collections::BTreeMap;

use rabbitscope_text::{MetricId, Unit};

use super::{
    model::{Difference, DifferenceKind},
    noise::Judge,
    single::Compared,
};
use crate::figures::{Figures, MOST_ROWS, ProcessFigure};

/// Relative change below which shares are never called different.
const THRESHOLD: f64 = 0.1;

/// The importance of CPU time in the ranking: a fifth of all CPU time ranks like the largest change of a rate.
const WEIGHT: f64 = 5.0;

const SHARE: MetricId =
    MetricId { name: "cpu.share", title: "share of the CPU time", unit: Unit::Share };

/// Samples by name.
type Counts = BTreeMap<String, u64>;

/// A list of one check.
struct List {
    counts: Counts,
    /// The least samples of a row, if rows may be missing. Those that are missing have at most as many.
    cut_at: Option<u64>,
}

impl List {
    fn new(rows: impl Iterator<Item = (String, u64)>) -> Self {
        let (mut counts, mut least, mut length) = (Counts::new(), u64::MAX, 0);
        for (name, samples) in rows {
            length += 1;
            least = least.min(samples);
            let sum = counts.entry(name).or_default();
            *sum = sum.saturating_add(samples);
        }
        Self { counts, cut_at: (length >= MOST_ROWS).then_some(least) }
    }

    /// Returns the samples of a name. A missing name has between none and the returned number.
    fn samples(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_else(|| self.cut_at.unwrap_or_default())
    }
}

/// Both lists of one kind.
struct Lists {
    kind: DifferenceKind,
    of: [List; 2],
}

/// Returns the number of names that are compared.
pub(super) fn common(compared: Compared<'_>) -> usize {
    if has_samples(compared) {
        lists(compared).iter().map(|lists| names(lists).len()).sum()
    } else {
        0
    }
}

/// Returns the threads, functions and processes whose share of the CPU time differs.
pub(super) fn differences(compared: Compared<'_>, judge: Judge) -> Vec<Difference> {
    if !has_samples(compared) {
        return Vec::new();
    }
    let of_lists = |lists: Lists| {
        let of_name = |name: &String| difference(compared, judge, &lists, name);
        names(&lists).iter().filter_map(of_name).collect::<Vec<Difference>>()
    };
    lists(compared).into_iter().flat_map(of_lists).collect()
}

fn has_samples(compared: Compared<'_>) -> bool {
    compared.figures.iter().all(|figures| figures.samples > 0)
}

fn names(lists: &Lists) -> Vec<String> {
    let mut names: Vec<String> =
        lists.of.iter().flat_map(|list| list.counts.keys().cloned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn difference(
    compared: Compared<'_>,
    judge: Judge,
    lists: &Lists,
    name: &str,
) -> Option<Difference> {
    let samples = compared.figures.map(|figures| figures.samples);
    let parts = [lists.of[0].samples(name), lists.of[1].samples(name)];
    let pair = judge.share(parts, samples, THRESHOLD)?;
    let size = WEIGHT * (pair.values[1] - pair.values[0]).abs();
    let title = match lists.kind {
        DifferenceKind::Thread => format!("CPU time of {name} threads"),
        DifferenceKind::Function => format!("CPU time in {name}"),
        _ => format!("CPU time of {name}"),
    };
    let mut difference = Difference::new((lists.kind, name.to_owned(), &title), SHARE, pair, size);
    difference.sentence += unlisted(lists, name);
    Some(difference)
}

/// Returns a note if a value is only an upper bound; empty otherwise.
fn unlisted(lists: &Lists, name: &str) -> &'static str {
    let is_bound = |side: usize| {
        let list = &lists.of[side];
        list.cut_at.is_some() && !list.counts.contains_key(name)
    };
    match [is_bound(0), is_bound(1)] {
        [true, _] => "; the earlier value is the most that it can have been",
        [_, true] => "; the present value is the most that it can be",
        _ => "",
    }
}

fn lists(compared: Compared<'_>) -> [Lists; 3] {
    let both = |list: fn(&Figures) -> List| compared.figures.map(list);
    [
        Lists { kind: DifferenceKind::Thread, of: both(threads) },
        Lists { kind: DifferenceKind::Function, of: both(functions) },
        Lists { kind: DifferenceKind::Process, of: both(processes) },
    ]
}

fn threads(figures: &Figures) -> List {
    List::new(figures.threads.iter().map(|row| (row.kind.clone(), row.samples)))
}

fn functions(figures: &Figures) -> List {
    List::new(figures.functions.iter().map(|row| (row.name.clone(), row.samples)))
}

/// Pids and names of connections differ from check to check. Such processes are compared by role, if all have a row.
fn processes(figures: &Figures) -> List {
    let is_complete = figures.processes.len() < MOST_ROWS;
    let is_kept = |row: &&ProcessFigure| is_complete || !is_passing(row);
    let rows = figures.processes.iter().filter(is_kept).map(|row| (title(row), row.samples));
    let list = List::new(rows);
    let cut_at = figures.processes.iter().map(|row| row.samples).min().filter(|_| !is_complete);
    List { cut_at, ..list }
}

fn is_passing(row: &ProcessFigure) -> bool {
    row.name.contains(" -> ") || row.name.starts_with('<')
}

fn title(row: &ProcessFigure) -> String {
    match (row.role.as_str(), is_passing(row)) {
        ("", true) => "processes without a name".to_owned(),
        ("", false) => row.name.clone(),
        (role, true) => format!("{role} (all of this role)"),
        (role, false) if row.vhost.is_empty() || row.vhost == "/" => format!("{role} {}", row.name),
        (role, false) => format!("{role} {} in {}", row.name, row.vhost),
    }
}
