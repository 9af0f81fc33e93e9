//! The table of a comparison: own and total share of every function before and after, ordered by their changes.

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

/// The change of a function's shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Index into [`ProfileDiff::frames`](super::ProfileDiff::frames).
    pub frame: FrameId,
    /// The function's name.
    pub name: String,
    /// The kind of its frame.
    pub kind: FrameKind,
    /// Own weight; see [`FunctionRow::own`](crate::FunctionRow::own).
    pub own: Sides,
    /// Total weight; see [`FunctionRow::total`](crate::FunctionRow::total).
    pub total: Sides,
    /// Change of the own share, −1 to 1.
    pub own_change: f64,
    /// Change of the total share, −1 to 1.
    pub total_change: f64,
    /// Evidence about the own share.
    pub own_evidence: Evidence,
    /// Evidence about the total share.
    pub total_evidence: Evidence,
    /// The part of the total share's change that changed callees do not explain, −1 to 1. It keeps callers from
    /// standing before the function that moved.
    pub unexplained: f64,
}

impl Change {
    /// Returns whether either share changed by more than noise.
    pub fn is_beyond_noise(&self) -> bool {
        self.own_evidence == Evidence::BeyondNoise || self.total_evidence == Evidence::BeyondNoise
    }

    /// Returns the shares that changed by more than noise: `own`, `total`, `both`, or nothing.
    pub fn moved_in_words(&self) -> &'static str {
        match [self.own_evidence, self.total_evidence]
            .map(|evidence| evidence == Evidence::BeyondNoise)
        {
            [true, true] => "both",
            [true, false] => "own",
            [false, true] => "total",
            [false, false] => "",
        }
    }

    /// Returns the size of the function's own movement, 0 to 1: the larger change of those shares that count.
    fn moved(&self) -> f64 {
        let size = |evidence, change: f64| match evidence {
            Evidence::WithinNoise if self.is_beyond_noise() => 0.0,
            Evidence::BeyondNoise | Evidence::WithinNoise => change.abs(),
        };
        size(self.own_evidence, self.own_change).max(size(self.total_evidence, self.unexplained))
    }

    /// Orders changes beyond noise first, then by movement. Native code moves with the Erlang function that it ran for,
    /// and stands below it.
    fn order(&self, other: &Self) -> Ordering {
        let beyond = other.is_beyond_noise().cmp(&self.is_beyond_noise());
        let moved = other.moved().total_cmp(&self.moved());
        let rank = |change: &Self| !change.kind.is_erlang_function();
        beyond
            .then(moved)
            .then(rank(self).cmp(&rank(other)))
            .then(other.total_change.abs().total_cmp(&self.total_change.abs()))
            .then_with(|| self.name.cmp(&other.name))
    }
}

/// The noise that a change must exceed.
pub(super) enum Noise<'a> {
    /// The noise of sampling, with the rate at which any of the comparisons may be wrong.
    Sampling(f64),
    /// The differences between runs.
    BetweenRuns(RunProfiles<'a>, Relabellings),
}

/// Returns the changes of every function of either profile, greatest mover first, and the number of comparisons.
/// Threads are no functions. `stacks` has the merged stacks and the weights that end in each node.
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
            let squares = SquaredPieces::new(profiles, frames);
            let sum = squares.as_ref().map(|squares| squares.sum);
            let judge = Judge::new(totals, sum, *family_rate, comparisons);
            let of_function =
                |frame: &FrameId| evidence_of_one(&judge, squares.as_ref(), *frame, sides(*frame));
            functions.iter().map(of_function).collect()
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

/// Returns the evidence about the own and the total share of one function, by the noise of sampling.
fn evidence_of_one(
    judge: &Judge,
    squares: Option<&SquaredPieces>,
    frame: FrameId,
    [own, total]: [Sides; 2],
) -> [Evidence; 2] {
    let (own_squares, total_squares) = squares.map(|squares| squares.of_function(frame)).unzip();
    [judge.evidence(own, own_squares), judge.evidence(total, total_squares)]
}

/// Squares of the pieces of weight, summed over both profiles.
struct SquaredPieces {
    /// The square of the unit.
    scale: f64,
    sum: f64,
    functions: [HashMap<FrameId, (u64, u64)>; 2],
}

impl SquaredPieces {
    /// Returns the squares; absent if every sample weighs 1.
    fn new(profiles: [&Profile; 2], frames: &mut FrameTable) -> Option<Self> {
        let unit = square_unit(profiles)?;
        let scale = unit.powi(2);
        let squares = profiles.map(|profile| squared(profile, unit));
        let sum = squares.iter().map(|profile| scale * profile.total() as f64).sum();
        let functions = squares.map(|profile| rows_by_frame(&profile, frames));
        Some(Self { scale, sum, functions })
    }

    /// Returns the squares of the own and of the total weight.
    fn of_function(&self, frame: FrameId) -> (f64, f64) {
        let rows = self.functions.iter().filter_map(|rows| rows.get(&frame));
        rows.fold((0.0, 0.0), |(own, total), row| {
            (own + self.scale * row.0 as f64, total + self.scale * row.1 as f64)
        })
    }
}

/// Reduces the change of each caller by the weight through callees that changed themselves, at most by the callees'
/// changes. An unchanged callee of several callers explains none of them.
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

/// Weights by caller and callee, for callees that moved. A stack counts once for each pair.
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
                *calls.entry(pair).or_default() += sum;
            }
        }
        path.push(node.frame);
    }
    calls
}

/// Weight of each node, including the nodes below it.
fn sums_below(tree: &StackTree, leaves: &[Sides]) -> Vec<Sides> {
    let mut sums = leaves.to_vec();
    for (index, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(parent) = node.parent {
            let own = sums[index];
            sums[parent.0 as usize] += own;
        }
    }
    sums
}
