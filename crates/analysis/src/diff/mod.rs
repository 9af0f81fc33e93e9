//! Two profiles of the same event against each other: one tree with the weights of both, and a table
//! of the functions whose share changed.
//!
//! Weights are compared as shares of their own profile, so that recordings of different length or
//! load can be compared. What is drawn and how wide belongs to `web`.

mod changes;
mod comparison;
mod noise;
mod sides;
#[cfg(test)]
mod tests;

pub use self::{
    changes::Change,
    noise::{Evidence, FAMILY_ERROR_RATE, counts_per_weight},
};
pub use comparison::{DiffError, ProfileDiff};
pub use sides::Sides;
