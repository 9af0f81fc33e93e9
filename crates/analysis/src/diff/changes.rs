//! The table of a comparison: own and total share of every function before and after, what moved, and
//! which of them moved most.

use std::{
    cmp::Ordering,
    collections::{BTreeSet, HashMap},
};

use rabbitscope_profiles::{FrameId, FrameKind, FrameTable, Profile};

use super::{
    Evidence, RunProfiles, Sides,
    noise::{Judge, square_unit, squared},
    relabelling::Relabellings,
    rows::rows_by_frame,
};
use crate::StackTree;

/// How a function's share changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// In [`ProfileDiff::frames`](super::ProfileDiff::frames).
    pub frame: FrameId,
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub kind: FrameKind,
    /// See [`FunctionRow::own`](crate::FunctionRow::own).
    pub own: Sides,
    /// See [`FunctionRow::total`](crate::FunctionRow::total).
    pub total: Sides,
    /// Of the own share, −1 to 1.
    pub own_change: f64,
    /// Of the total share, −1 to 1.
    pub total_change: f64,
    /// About the own share.
    pub own_evidence: Evidence,
    /// About the total share.
    pub total_evidence: Evidence,
    /// Of the change of the total share, what no function that it calls has changed by itself, −1 to 1.
    /// So the callers of what moved do not stand before it.
    pub unexplained: f64,
}

impl Change {
    /// Whether either share changed by more than noise.
    pub fn is_beyond_noise(&self) -> bool {
        self.own_evidence == Evidence::BeyondNoise || self.total_evidence == Evidence::BeyondNoise
    }

    /// Which of its shares changed by more than noise: `own`, `total`, `both`, or nothing.
    pub fn moved_in_words(&self) -> &'static str {
        match [self.own_evidence, self.total_evidence].map(|it| it == Evidence::BeyondNoise) {
            [true, true] => "both",
            [true, false] => "own",
            [false, true] => "total",
            [false, false] => "",
        }
    }

    /// By how much it moved by itself, 0 to 1: of both shares the larger change among those that count.
    fn moved(&self) -> f64 {
        let size = |evidence, change: f64| match evidence {
            Evidence::WithinNoise if self.is_beyond_noise() => 0.0,
            Evidence::BeyondNoise | Evidence::WithinNoise => change.abs(),
        };
        size(self.own_evidence, self.own_change).max(size(self.total_evidence, self.unexplained))
    }

    /// What is beyond noise first, of these what moved most. The code that ran for an Erlang function
    /// moves with it and stands below it.
    fn order(&self, other: &Self) -> Ordering {
        let beyond = other.is_beyond_noise().cmp(&self.is_beyond_noise());
        let moved = other.moved().total_cmp(&self.moved());
        let rank = |it: &Self| !it.kind.is_erlang_function();
        beyond
            .then(moved)
            .then(rank(self).cmp(&rank(other)))
            .then(other.total_change.abs().total_cmp(&self.total_change.abs()))
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// What a change has to be larger than.
pub(super) enum Noise<'a> {
    /// The noise of sampling; with this rate any of the comparisons may be wrong.
    Sampling(f64),
    /// What differs between runs.
    BetweenRuns(RunProfiles<'a>, Relabellings),
}

/// Every function of either profile, the greatest mover first, and how many comparisons that were.
/// Threads are none. `stacks` are the
/// merged ones, with what ends in each node.
pub(super) fn changes(
    profiles: [&Profile; 2],
    totals: Sides,
    noise: &Noise<'_>,
    frames: &mut FrameTable,
    stacks: (&StackTree, &[Sides]),
) -> (Vec<Change>, usize) {
    let [before, after] = profiles.map(|profile| rows_by_frame(profile, frames));
    let either: BTreeSet<FrameId> = before.keys().chain(after.keys()).copied().collect();
    let functions: Vec<FrameId> =
        either.into_iter().filter(|&id| frames.get(id).kind != FrameKind::Thread).collect();
    let comparisons = 2 * functions.len();
    let sides = |frame: FrameId| {
        let (own_before, total_before) = before.get(&frame).copied().unwrap_or_default();
        let (own_after, total_after) = after.get(&frame).copied().unwrap_or_default();
        let own = Sides { before: own_before, after: own_after };
        [own, Sides { before: total_before, after: total_after }]
    };
    let evidence = match noise {
        Noise::Sampling(family_rate) => {
            let squares = SquaredPieces::of(profiles, frames);
            let sum = squares.as_ref().map(|squares| squares.sum);
            let judge = Judge::new(totals, sum, *family_rate, comparisons);
            let of =
                |frame: &FrameId| evidence_of_one(&judge, squares.as_ref(), *frame, sides(*frame));
            functions.iter().map(of).collect()
        }
        Noise::BetweenRuns(runs, relabellings) => runs.evidence(relabellings, &functions, frames),
    };
    let change = |(frame, [own_evidence, total_evidence]): (FrameId, [Evidence; 2])| {
        let [own, total] = sides(frame);
        Change {
            frame,
            name: frames.get(frame).name.clone(),
            kind: frames.get(frame).kind,
            own,
            total,
            own_change: own.change(totals),
            total_change: total.change(totals),
            own_evidence,
            total_evidence,
            unexplained: total.change(totals),
        }
    };
    let mut changes: Vec<Change> = functions.into_iter().zip(evidence).map(change).collect();
    explain_callers(&mut changes, totals, stacks);
    changes.sort_by(Change::order);
    (changes, comparisons)
}

/// About the own and the total share of one function, by the noise of sampling.
fn evidence_of_one(
    judge: &Judge,
    squares: Option<&SquaredPieces>,
    frame: FrameId,
    [own, total]: [Sides; 2],
) -> [Evidence; 2] {
    let (own_squares, total_squares) = squares.map(|squares| squares.of_function(frame)).unzip();
    [judge.evidence(own, own_squares), judge.evidence(total, total_squares)]
}

/// Squares of the pieces that weights are made of, of both profiles together.
struct SquaredPieces {
    /// The unit squared.
    scale: f64,
    sum: f64,
    functions: [HashMap<FrameId, (u64, u64)>; 2],
}

impl SquaredPieces {
    /// Absent where every sample weighs 1.
    fn of(profiles: [&Profile; 2], frames: &mut FrameTable) -> Option<Self> {
        let unit = square_unit(profiles)?;
        let scale = unit.powi(2);
        let squares = profiles.map(|profile| squared(profile, unit));
        let sum = squares.iter().map(|profile| scale * profile.total() as f64).sum();
        let functions = squares.map(|profile| rows_by_frame(&profile, frames));
        Some(Self { scale, sum, functions })
    }

    /// Of the own and of the total weight.
    fn of_function(&self, frame: FrameId) -> (f64, f64) {
        let rows = self.functions.iter().filter_map(|rows| rows.get(&frame));
        rows.fold((0.0, 0.0), |(own, total), row| {
            (own + self.scale * row.0 as f64, total + self.scale * row.1 as f64)
        })
    }
}

/// Takes from the change of each caller what went through functions that changed themselves, at most
/// as much as they did. What is shared by several callers and did not change explains none of them.
fn explain_callers(changes: &mut [Change], totals: Sides, (tree, leaves): (&StackTree, &[Sides])) {
    let moved: HashMap<FrameId, f64> = changes
        .iter()
        .filter(|change| change.total_evidence == Evidence::BeyondNoise)
        .map(|change| (change.frame, change.total_change))
        .collect();
    let mut explained: HashMap<FrameId, f64> = HashMap::new();
    for ((caller, callee), through) in calls(tree, leaves, &moved) {
        let (through, most) = (through.change(totals), moved[&callee]);
        if through * most > 0.0 {
            *explained.entry(caller).or_default() += through.abs().min(most.abs()) * most.signum();
        }
    }
    for change in changes {
        change.unexplained -= explained.get(&change.frame).copied().unwrap_or(0.0);
    }
}

/// Weights by caller and callee, for callees that moved; a stack counts once for each pair.
fn calls(
    tree: &StackTree,
    leaves: &[Sides],
    moved: &HashMap<FrameId, f64>,
) -> HashMap<(FrameId, FrameId), Sides> {
    let sums = sums_below(tree, leaves);
    let mut calls: HashMap<(FrameId, FrameId), Sides> = HashMap::new();
    let mut path: Vec<FrameId> = Vec::new();
    for (node, sum) in tree.nodes.iter().zip(sums) {
        path.truncate(node.depth as usize);
        if let Some(&caller) = path.last()
            && caller != node.frame
            && moved.contains_key(&node.frame)
        {
            let pair = (caller, node.frame);
            let is_again = path.windows(2).any(|step| (step[0], step[1]) == pair);
            if !is_again {
                let through = calls.entry(pair).or_default();
                through.before += sum.before;
                through.after += sum.after;
            }
        }
        path.push(node.frame);
    }
    calls
}

/// Weights of each node with all below it.
fn sums_below(tree: &StackTree, leaves: &[Sides]) -> Vec<Sides> {
    let mut sums = leaves.to_vec();
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            let own = sums[at];
            let above = &mut sums[parent.0 as usize];
            above.before += own.before;
            above.after += own.after;
        }
    }
    sums
}
