//! Comparison of two profiles of the same event: one tree with the weights of both, and a table of the functions whose
//! share changed.
//!
//! Weights are compared as shares of their own profile, so that recordings of different length or load are comparable.
//! Two recordings differ at least by the noise of sampling; several runs on each side also show the noise between runs.
//! The drawing belongs to `web`.

mod between_runs;
mod changes;
mod comparison;
mod noise;
mod relabelling;
mod rows;
mod sides;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_runs;

pub use self::{
    between_runs::{FAMILY_ERROR_RATE_OF_RUNS, RunProfiles},
    changes::Change,
    noise::{Evidence, FAMILY_ERROR_RATE, counts_per_weight},
};
pub use comparison::{ComparedNoise, DiffError, ProfileDiff};
pub use relabelling::RunPairing;
pub use sides::Sides;
