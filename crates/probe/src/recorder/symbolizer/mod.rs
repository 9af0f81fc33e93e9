//! Makes named stacks of raw samples, and adds up equal stacks. Frames get their names when samples are fetched,
//! while the code at their addresses is still mapped.
//!
//! [`samples`] has the symbolizer. [`stack_builder`] orders the frames of one sample, [`frames`] names addresses,
//! [`callees`] the BIFs and NIFs between Erlang and C. [`steps`] remembers how stacks were built. [`stacks`],
//! [`weights`] and [`lines`] add up; [`results`] makes the parts of a profile of the sums.

mod callees;
mod frames;
mod lines;
#[cfg(test)]
mod live_tests;
mod results;
mod samples;
mod stack_builder;
mod stacks;
mod steps;
mod threads;
mod weights;

pub(super) use frames::NodeCode;
pub(super) use samples::{Detail, Symbolizer};
