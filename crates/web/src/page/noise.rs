//! How the page tells changes from noise.

use rabbitscope_analysis::{FAMILY_ERROR_RATE, counts_per_weight};
use rabbitscope_profiles::Profile;
use serde::Serialize;

/// What tells changes from the noise of sampling.
#[derive(Serialize)]
pub(crate) struct Noise {
    /// How often all comparisons of a table or a graph together may mark anything by chance.
    rate: f64,
    /// Counted samples for each unit of weight, on both sides.
    counts: [f64; 2],
}

impl Noise {
    /// Of comparisons between two profiles, or between two parts of one.
    pub(crate) fn between(before: &Profile, after: &Profile) -> Self {
        Self { rate: FAMILY_ERROR_RATE, counts: [before, after].map(counts_per_weight) }
    }
}
