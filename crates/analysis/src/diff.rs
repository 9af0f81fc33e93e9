//! Two profiles of the same event against each other: one tree with the weights of both, and a table
//! of the functions whose share changed.
//!
//! Weights are compared as shares of their own profile, so that recordings of different length or
//! load can be compared. What is drawn and how wide belongs to `web`.

use std::collections::{BTreeSet, HashMap};

use rabbitscope_data::profile::{
    Event, Frame, FrameId, FrameKind, FrameTable, Profile, Sample, StackEntry,
};

use crate::{
    FunctionRow, NodeId, Recursion, StackTree, function_table,
    tree::{TreeNode, runs},
};

/// Weight of a whole profile after scaling: fine enough that a stack of one in 10^12 is not lost.
const SCALE: u64 = 1 << 40;

/// From this many standard errors on, a change is called larger than sampling noise. With a thousand
/// functions compared, chance alone reaches it less than once in ten comparisons.
pub const NOISE_ERRORS: f64 = 4.0;

/// Why two profiles cannot be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// They do not count the same thing.
    #[error(
        "the first profile is of {}, the second of {}: only profiles of the same event can be \
         compared",
        before.name(), after.name()
    )]
    Events {
        /// Of the first.
        before: Event,
        /// Of the second.
        after: Event,
    },
    /// One has no samples.
    #[error("the {which} profile has no samples, so that there is nothing to compare")]
    Empty {
        /// `first` or `second`.
        which: &'static str,
    },
}

/// A figure of both profiles, in the unit of their event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// In the first profile.
    pub before: u64,
    /// In the second.
    pub after: u64,
}

impl Sides {
    /// Change of the share, −1 to 1, when `totals` are the weights of the whole profiles.
    pub fn change(self, totals: Self) -> f64 {
        crate::share(self.after, totals.after) - crate::share(self.before, totals.before)
    }
}

/// Whether a change is larger than the noise of sampling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Larger than counts of this size vary by chance. That runs differ from each other is another
    /// matter, which only repeated runs can show.
    BeyondNoise,
    /// Chance alone may have done it.
    WithinNoise,
}

/// How a function's share changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// In [`ProfileDiff::frames`].
    pub frame: FrameId,
    /// Its name.
    pub name: String,
    /// What it is made of.
    pub kind: FrameKind,
    /// See [`FunctionRow::own`].
    pub own: Sides,
    /// See [`FunctionRow::total`].
    pub total: Sides,
    /// Of the own share, −1 to 1.
    pub own_change: f64,
    /// Of the total share, −1 to 1.
    pub total_change: f64,
    /// About the own share.
    pub own_evidence: Evidence,
    /// About the total share.
    pub total_evidence: Evidence,
}

/// Two profiles, merged.
#[derive(Clone, Debug)]
pub struct ProfileDiff {
    /// What both are of.
    pub event: Event,
    /// Every function of either.
    pub frames: FrameTable,
    /// The stacks of both, runs told apart by length. Weights are the mean of the two shares, scaled
    /// to the same whole number for both profiles, so that a stack that is in one of them only has
    /// half its width.
    pub tree: StackTree,
    /// For each node of the tree the weight of the stacks that end there.
    pub leaves: Vec<Sides>,
    /// Weights of the whole profiles.
    pub totals: Sides,
    /// Every function, the largest change of the own share first.
    pub changes: Vec<Change>,
}

impl ProfileDiff {
    /// Compares two profiles.
    pub fn of(before: &Profile, after: &Profile) -> Result<Self, DiffError> {
        if before.event != after.event {
            return Err(DiffError::Events { before: before.event, after: after.event });
        }
        let totals = Sides { before: before.total(), after: after.total() };
        for (which, total) in [("first", totals.before), ("second", totals.after)] {
            if total == 0 {
                return Err(DiffError::Empty { which });
            }
        }
        let mut frames = FrameTable::default();
        let before_stacks = stacks_in(before, &mut frames);
        let after_stacks = stacks_in(after, &mut frames);
        let scaled = |stacks: &'_ [Stack], total: u64| -> Vec<u64> {
            stacks.iter().map(|stack| scale(stack.weight, total)).collect()
        };
        let weights =
            [scaled(&before_stacks, totals.before), scaled(&after_stacks, totals.after)].concat();
        let stacks = before_stacks.iter().chain(&after_stacks).map(|stack| &stack.entries[..]);
        let tree = StackTree::of_stacks(stacks.zip(weights), &frames, Recursion::ByLength);
        let leaves = leaves(&tree, &before_stacks, &after_stacks);
        let changes = changes(before, after, totals, &mut frames);
        Ok(Self { event: before.event, frames, tree, leaves, totals, changes })
    }
}

/// A stack in the frames of the merged table.
struct Stack {
    entries: Vec<StackEntry>,
    weight: u64,
}

fn stacks_in(profile: &Profile, frames: &mut FrameTable) -> Vec<Stack> {
    let ids: Vec<FrameId> =
        profile.frames.iter().map(|(_, frame)| frames.intern(frame.clone())).collect();
    let renamed = |entry: &StackEntry| StackEntry { frame: ids[entry.frame.0 as usize], ..*entry };
    let stacks = profile.samples.iter().map(|sample| Stack {
        entries: sample.stack.iter().map(renamed).collect(),
        weight: sample.weight,
    });
    stacks.collect()
}

/// A weight as a part of [`SCALE`].
fn scale(weight: u64, total: u64) -> u64 {
    let scaled = u128::from(weight) * u128::from(SCALE) / u128::from(total.max(1));
    u64::try_from(scaled).unwrap_or(SCALE)
}

fn leaves(tree: &StackTree, before: &[Stack], after: &[Stack]) -> Vec<Sides> {
    let index: HashMap<(Option<NodeId>, StackEntry), NodeId> = (0..)
        .map(NodeId)
        .zip(&tree.nodes)
        .map(|(id, &TreeNode { parent, frame, repeat, .. })| {
            ((parent, StackEntry { frame, repeat }), id)
        })
        .collect();
    let leaf =
        |stack: &Stack| runs(&stack.entries).fold(None, |at, run| index.get(&(at, run)).copied());
    let mut leaves = vec![Sides::default(); tree.nodes.len()];
    for (stacks, is_after) in [(before, false), (after, true)] {
        for stack in stacks {
            if let Some(NodeId(node)) = leaf(stack) {
                let sides = &mut leaves[node as usize];
                *(if is_after { &mut sides.after } else { &mut sides.before }) += stack.weight;
            }
        }
    }
    leaves
}

/// How many counted samples a unit of weight is worth. Where samples weigh the same it is 1. Bytes and
/// nanoseconds come in pieces of any size; then it is Kish's effective sample size, total² / Σ weight²,
/// over the total, all occurrences of a stack taken to weigh the same.
pub fn counts_per_weight(profile: &Profile) -> f64 {
    let square = |sample: &Sample| (sample.weight as f64).powi(2) / sample.count.max(1) as f64;
    let squares: f64 = profile.samples.iter().map(square).sum();
    if squares > 0.0 { profile.total() as f64 / squares } else { 1.0 }
}

fn changes(
    before: &Profile,
    after: &Profile,
    totals: Sides,
    frames: &mut FrameTable,
) -> Vec<Change> {
    let counts = [before, after].map(counts_per_weight);
    let before = rows_by_frame(before, frames);
    let after = rows_by_frame(after, frames);
    let either: BTreeSet<FrameId> = before.keys().chain(after.keys()).copied().collect();
    let nothing = (0, 0);
    let mut changes: Vec<Change> = either
        .into_iter()
        .map(|frame| {
            let (own_before, total_before) = before.get(&frame).copied().unwrap_or(nothing);
            let (own_after, total_after) = after.get(&frame).copied().unwrap_or(nothing);
            let own = Sides { before: own_before, after: own_after };
            let total = Sides { before: total_before, after: total_after };
            Change {
                frame,
                name: frames.get(frame).name.clone(),
                kind: frames.get(frame).kind,
                own,
                total,
                own_change: own.change(totals),
                total_change: total.change(totals),
                own_evidence: evidence(own, totals, counts),
                total_evidence: evidence(total, totals, counts),
            }
        })
        .collect();
    changes.sort_by(|left, right| {
        let size = |change: &Change| (change.own_change.abs(), change.total_change.abs());
        let (left_size, right_size) = (size(left), size(right));
        let by_size = right_size.0.total_cmp(&left_size.0);
        by_size.then(right_size.1.total_cmp(&left_size.1)).then_with(|| left.name.cmp(&right.name))
    });
    changes
}

/// Own and total weight of each function.
fn rows_by_frame(profile: &Profile, frames: &mut FrameTable) -> HashMap<FrameId, (u64, u64)> {
    let rows = function_table(profile).into_iter();
    rows.map(|FunctionRow { name, kind, own, total, .. }| {
        (frames.intern(Frame { name, kind }), (own, total))
    })
    .collect()
}

/// Two shares of counted samples: the difference over its standard error under the assumption that
/// both profiles have the same share (test of two proportions). `counts` has for each profile what
/// [`counts_per_weight`] says. `ui/src/flame/noise.ts` is the same for spans that a reader draws.
fn evidence(part: Sides, totals: Sides, counts: [f64; 2]) -> Evidence {
    let (before, after) = (totals.before as f64 * counts[0], totals.after as f64 * counts[1]);
    let counted = part.before as f64 * counts[0] + part.after as f64 * counts[1];
    let pooled = counted / (before + after);
    let error = (pooled * (1.0 - pooled) * (1.0 / before + 1.0 / after)).sqrt();
    if error > 0.0 && part.change(totals).abs() >= NOISE_ERRORS * error {
        Evidence::BeyondNoise
    } else {
        Evidence::WithinNoise
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_data::profile::read_folded;

    use super::*;

    fn diff(before: &str, after: &str) -> ProfileDiff {
        let read = |text: &str| read_folded(text.as_bytes()).unwrap();
        ProfileDiff::of(&read(before), &read(after)).unwrap()
    }

    #[test]
    fn shares_are_compared_and_not_weights() {
        let diff = diff("s;m:f/1 50\ns;m:g/1 50", "s;m:f/1 150\ns;m:g/1 50");
        let change = |name: &str| diff.changes.iter().find(|it| it.name == name).unwrap();
        assert!((change("m:f/1").own_change - 0.25).abs() < 1e-12);
        assert!((change("m:g/1").own_change + 0.25).abs() < 1e-12);
        assert!(change("s").total_change.abs() < 1e-12);
    }

    #[test]
    fn what_is_in_one_profile_only_stays_in_the_tree() {
        let diff = diff("s;m:gone/1;m:gone/1 10\ns;m:f/1 30", "s;m:f/1 20\ns;m:new/0 60");
        let named = diff.tree.nodes.iter().zip(&diff.leaves).map(|(node, leaf)| {
            (diff.frames.get(node.frame).name.as_str(), node.repeat, leaf.before, leaf.after)
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        let expected =
            [("m:f/1", 1, 30, 20), ("m:gone/1", 2, 10, 0), ("m:new/0", 1, 0, 60), ("s", 1, 0, 0)];
        assert_eq!(named, expected);
        assert_eq!(diff.tree.nodes[0].total, 2 * SCALE);
        assert_eq!(diff.changes[0].name, "m:new/0");
    }

    #[test]
    fn chance_is_told_from_change() {
        fn check(before: u64, after: u64, expected: Evidence) {
            let totals = Sides { before: 10_000, after: 10_000 };
            let part = Sides { before, after };
            assert_eq!(evidence(part, totals, [1.0; 2]), expected, "{before} {after}");
        }
        check(0, 0, Evidence::WithinNoise);
        check(100, 110, Evidence::WithinNoise);
        check(100, 130, Evidence::WithinNoise);
        check(100, 180, Evidence::BeyondNoise);
        check(0, 30, Evidence::BeyondNoise);
        check(10_000, 10_000, Evidence::WithinNoise);
    }

    #[test]
    fn large_pieces_are_few_samples() {
        let mut profile = read_folded("a 1000\nb 3000".as_bytes()).unwrap();
        assert!((counts_per_weight(&profile) - 1.0).abs() < 1e-12);
        // The same weights from 10 occurrences of 100 each and 30 of 100 each.
        for sample in &mut profile.samples {
            sample.count = sample.weight / 100;
        }
        assert!((counts_per_weight(&profile) - 0.01).abs() < 1e-12);
        let (part, totals) =
            (Sides { before: 1000, after: 1400 }, Sides { before: 4000, after: 4000 });
        assert_eq!(evidence(part, totals, [1.0; 2]), Evidence::BeyondNoise);
        assert_eq!(evidence(part, totals, [0.01; 2]), Evidence::WithinNoise);
    }

    /// Many pairs of profiles drawn from the same shares: marks are wrong as rarely as is said.
    #[test]
    fn equal_profiles_are_rarely_marked() {
        let mut random = 11_u64;
        let mut below = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % limit
        };
        let mut draw = || {
            let mut counts = vec![0_u64; 200];
            for _ in 0..5_000 {
                let (a, b) = (below(200), below(200));
                counts[usize::try_from(a.min(b)).unwrap()] += 1;
            }
            counts
        };
        let totals = Sides { before: 5_000, after: 5_000 };
        let mut marked = 0;
        for _ in 0..50 {
            let pairs = draw().into_iter().zip(draw());
            marked += pairs
                .filter(|&(before, after)| {
                    evidence(Sides { before, after }, totals, [1.0; 2]) == Evidence::BeyondNoise
                })
                .count();
        }
        assert!(marked <= 4, "{marked} of 10,000 comparisons were marked");
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let some = read_folded("a 1".as_bytes()).unwrap();
        let none = read_folded("".as_bytes()).unwrap();
        assert_eq!(
            ProfileDiff::of(&some, &none).unwrap_err(),
            DiffError::Empty { which: "second" }
        );
        assert_eq!(ProfileDiff::of(&none, &some).unwrap_err(), DiffError::Empty { which: "first" });
    }
}
