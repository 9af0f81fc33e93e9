//! The highest rate that a broker takes: which rate to try next, and whether a rate passed.

mod judge;
mod rotation;
mod search;
#[cfg(test)]
mod simulated_queue;
#[cfg(test)]
mod tests;

pub use judge::{CLEAR_STEP, StepMeasurements, StepTerms, backlog_growth, judge};
pub use rotation::SearchRotation;
pub use search::{Range, Search};
