//! The page's criterion for changes beyond noise.

use rabbitscope_analysis::{
    ComparedNoise, FAMILY_ERROR_RATE, FAMILY_ERROR_RATE_OF_RUNS, ProfileDiff, counts_per_weight,
};
use rabbitscope_profiles::Profile;
use serde::Serialize;

/// The criterion that distinguishes changes from noise.
#[derive(Serialize)]
pub(crate) struct Noise {
    /// Error rate of all comparisons of a table or a graph together.
    rate: f64,
    /// Counted samples for each unit of weight, on both sides.
    counts: [f64; 2],
    /// Number of runs on both sides, if the noise is that between runs.
    runs: Option<[usize; 2]>,
}

impl Noise {
    /// Creates the criterion for comparisons between two profiles, or between two parts of one.
    pub(crate) fn between(before: &Profile, after: &Profile) -> Self {
        let counts = [before, after].map(counts_per_weight);
        Self { rate: FAMILY_ERROR_RATE, counts, runs: None }
    }

    /// Creates the criterion for the changes of a comparison. Parts of the graph are judged from the merged profiles. A
    /// sample therefore counts less by the factor by which runs scatter more than sampling does.
    pub(crate) fn from_diff(diff: &ProfileDiff, before: &Profile, after: &Profile) -> Self {
        let noise = Self::between(before, after);
        match diff.noise {
            ComparedNoise::Sampling => noise,
            ComparedNoise::BetweenRuns { counts, overdispersion, .. } => Self {
                rate: FAMILY_ERROR_RATE_OF_RUNS,
                counts: noise.counts.map(|count| count / overdispersion),
                runs: Some(counts),
            },
        }
    }
}
