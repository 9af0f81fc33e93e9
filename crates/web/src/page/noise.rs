//! How the page tells changes from noise.

use rabbitscope_analysis::{
    ComparedNoise, FAMILY_ERROR_RATE, FAMILY_ERROR_RATE_OF_RUNS, ProfileDiff, counts_per_weight,
};
use rabbitscope_profiles::Profile;
use serde::Serialize;

/// What tells changes from noise.
#[derive(Serialize)]
pub(crate) struct Noise {
    /// How often all comparisons of a table or a graph together may mark anything by chance.
    rate: f64,
    /// Counted samples for each unit of weight, on both sides.
    counts: [f64; 2],
    /// Runs on both sides where the noise is that between runs.
    runs: Option<[usize; 2]>,
}

impl Noise {
    /// Of comparisons between two profiles, or between two parts of one.
    pub(crate) fn between(before: &Profile, after: &Profile) -> Self {
        let counts = [before, after].map(counts_per_weight);
        Self { rate: FAMILY_ERROR_RATE, counts, runs: None }
    }

    /// What the changes of a comparison are larger than. Parts of the graph are judged from the merged profiles; so
    /// a sample counts less by as much as runs scatter more than sampling does.
    pub(crate) fn of(diff: &ProfileDiff, before: &Profile, after: &Profile) -> Self {
        let noise = Self::between(before, after);
        match diff.noise {
            ComparedNoise::Sampling => noise,
            ComparedNoise::BetweenRuns { counts, overdispersion, .. } => Self {
                rate: FAMILY_ERROR_RATE_OF_RUNS,
                counts: noise.counts.map(|it| it / overdispersion),
                runs: Some(counts),
            },
        }
    }
}
