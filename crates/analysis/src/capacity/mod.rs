//! The highest rate that a broker takes: which rate to try next, and whether a rate passed.

mod judge;
mod rotation;
mod search;
#[cfg(test)]
mod tests;

pub use judge::{StepMeasurements, backlog_growth, judge};
pub use rotation::SearchRotation;
pub use search::{Range, Search};
