//! Two profiles in one tree, with the weights of both.

use super::{
    Change, FAMILY_ERROR_RATE, RunPairing, RunProfiles, Sides,
    changes::{self, Noise},
};
use crate::{NodeId, Recursion, StackTree};
use rabbitscope_profiles::{Event, FrameId, FrameTable, Profile, StackEntry, merged};

/// Weight of a whole profile after scaling: fine enough to keep a stack of one in 10^12.
pub(super) const SCALE: u64 = 1 << 40;

/// A reason why two profiles cannot be compared.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The profiles count different things.
    #[error(
        "the first profile shows {before}, the second {after}: compare profiles of the same event; --value NAME \
         selects another value of a file with several"
    )]
    Events {
        /// Event of the first profile.
        before: String,
        /// Event of the second profile.
        after: String,
    },
    /// One profile has no samples.
    #[error("the {which} profile has no samples to compare")]
    Empty {
        /// The empty one: `first` or `second`.
        which: &'static str,
    },
    /// The runs are too few to know the noise between them.
    #[error(
        "{} and {} profiles are too few to estimate how much runs differ: give four or more on each side",
        counts[0], counts[1]
    )]
    TooFewRuns {
        /// Numbers of runs on both sides.
        counts: [usize; 2],
    },
}

impl DiffError {
    fn between(before: &Profile, after: &Profile) -> Self {
        let name = |profile: &Profile| match profile.event {
            Event::Imported => format!("{} ({})", profile.value_name(), profile.unit()),
            event => event.name().to_owned(),
        };
        Self::Events { before: name(before), after: name(after) }
    }
}

/// The noise that the changes of a comparison exceed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ComparedNoise {
    /// The noise of sampling.
    Sampling,
    /// The differences between runs.
    BetweenRuns {
        /// Numbers of runs on both sides.
        counts: [usize; 2],
        /// The pairing of the runs.
        pairing: RunPairing,
        /// Variance of shares between runs relative to that of sampling, 1 or more.
        overdispersion: f64,
    },
}

/// The comparison of two profiles, merged into one tree.
#[derive(Clone, Debug)]
pub struct ProfileDiff {
    /// The event of both.
    pub event: Event,
    /// The name of the weights, as in [`Profile::value_name`].
    pub value: String,
    /// The unit of the first profile's weights. CPU time may be in ticks, nanoseconds or cycles.
    pub unit: String,
    /// Every function of either profile.
    pub frames: FrameTable,
    /// The stacks of both, with runs of recursion told apart by length. Weights are the mean of the two shares, scaled
    /// to the same whole number for both profiles. So a stack that is in only one profile has half its width.
    pub tree: StackTree,
    /// For each node of the tree, the weight of the stacks that end there.
    pub leaves: Vec<Sides>,
    /// Weights of the whole profiles.
    pub totals: Sides,
    /// All functions except threads: changes beyond noise first, then by movement.
    pub changes: Vec<Change>,
    /// Number of comparisons in [`Self::changes`].
    pub comparisons: usize,
    /// The noise that the changes exceed.
    pub noise: ComparedNoise,
}

impl ProfileDiff {
    /// Compares two profiles.
    pub fn between(before: &Profile, after: &Profile) -> Result<Self, DiffError> {
        Self::at_rate(before, after, FAMILY_ERROR_RATE)
    }

    /// Compares the merged runs of two sides. Changes must exceed the noise between runs. Also returns the merged
    /// profiles.
    pub fn of_runs(runs: RunProfiles<'_>) -> Result<(Self, [Profile; 2]), DiffError> {
        let counts = runs.counts();
        let relabellings = runs.relabellings().ok_or(DiffError::TooFewRuns { counts })?;
        let (Some(before), Some(after)) = (merged(runs.before), merged(runs.after)) else {
            let first = &runs.before[0];
            let mut others = runs.before.iter().chain(runs.after);
            let is_other = |profile: &&Profile| {
                profile.quantity() != first.quantity() || profile.unit() != first.unit()
            };
            return Err(DiffError::between(first, others.find(is_other).unwrap_or(first)));
        };
        let noise = Noise::BetweenRuns(runs, relabellings);
        let mut diff = Self::beyond(&before, &after, &noise)?;
        let functions: Vec<FrameId> = diff.changes.iter().map(|change| change.frame).collect();
        let overdispersion = runs.overdispersion(&functions, &mut diff.frames);
        diff.noise = ComparedNoise::BetweenRuns { counts, pairing: runs.pairing, overdispersion };
        Ok((diff, [before, after]))
    }

    pub(super) fn at_rate(
        before: &Profile,
        after: &Profile,
        family_rate: f64,
    ) -> Result<Self, DiffError> {
        Self::beyond(before, after, &Noise::Sampling(family_rate))
    }

    fn beyond(before: &Profile, after: &Profile, noise: &Noise<'_>) -> Result<Self, DiffError> {
        if before.quantity() != after.quantity() {
            return Err(DiffError::between(before, after));
        }
        let totals = Sides { before: before.total(), after: after.total() };
        for (which, total) in [("first", totals.before), ("second", totals.after)] {
            if total == 0 {
                return Err(DiffError::Empty { which });
            }
        }
        let mut frames = FrameTable::default();
        let mut stacks = stacks_in(before, &mut frames, |before| Sides { before, after: 0 });
        stacks.extend(stacks_in(after, &mut frames, |after| Sides { before: 0, after }));
        let scaled =
            |sides: Sides| scale(sides.before, totals.before) + scale(sides.after, totals.after);
        let weighted = stacks.iter().map(|(stack, sides)| (&stack[..], scaled(*sides)));
        let (tree, ends) = StackTree::merge(weighted, &frames, Recursion::ByLength);
        let mut leaves = vec![Sides::default(); tree.nodes.len()];
        for ((_, sides), end) in stacks.iter().zip(ends) {
            if let Some(NodeId(node)) = end {
                leaves[node as usize] += *sides;
            }
        }
        let (changes, comparisons) =
            changes::changes([before, after], totals, noise, &mut frames, (&tree, &leaves));
        let noise = ComparedNoise::Sampling;
        Ok(Self {
            event: before.event,
            value: before.value_name().to_owned(),
            unit: before.unit().to_owned(),
            frames,
            tree,
            leaves,
            totals,
            changes,
            comparisons,
            noise,
        })
    }
}

/// Returns the stacks of a profile in the frames of the merged table, with their weights.
fn stacks_in(
    profile: &Profile,
    frames: &mut FrameTable,
    weight: impl Fn(u64) -> Sides,
) -> Vec<(Vec<StackEntry>, Sides)> {
    let ids = frames.intern_all(&profile.frames);
    let renamed = |stack: &[StackEntry]| stack.iter().map(|entry| entry.renamed(&ids)).collect();
    let samples = profile.samples.iter();
    samples.map(|sample| (renamed(&sample.stack), weight(sample.weight))).collect()
}

/// Scales a weight to a part of [`SCALE`].
fn scale(weight: u64, total: u64) -> u64 {
    let scaled = u128::from(weight) * u128::from(SCALE) / u128::from(total.max(1));
    u64::try_from(scaled).unwrap_or(SCALE)
}
