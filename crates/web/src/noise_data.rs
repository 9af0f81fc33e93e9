//! How the page tells changes from noise.

use rabbitscope_analysis::{NOISE_ERRORS, counts_per_weight};
use rabbitscope_data::profile::Profile;
use serde::Serialize;

/// What tells changes from the noise of sampling.
#[derive(Serialize)]
pub(crate) struct Noise {
    /// Standard errors from which on a change is larger than noise.
    errors: f64,
    /// Counted samples for each unit of weight, on both sides.
    counts: [f64; 2],
}

impl Noise {
    /// Of comparisons between two profiles, or between two parts of one.
    pub(crate) fn between(before: &Profile, after: &Profile) -> Self {
        Self { errors: NOISE_ERRORS, counts: [before, after].map(counts_per_weight) }
    }
}
