//! The highest rate that a broker takes: which rate to try next, and whether a rate passed.

mod judge;
mod search;
#[cfg(test)]
mod tests;

pub use judge::{StepMeasurements, backlog_growth, judge};
pub use search::{Range, Search};
