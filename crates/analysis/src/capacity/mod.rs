//! The search for the highest rate that a broker takes: the next rate to try, and the judgement of a rate.

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
