//! Events of perf: their names, their grouping, and the weights of their samples.

mod events;
mod name;
#[cfg(test)]
mod tests;

pub(super) use events::{Chosen, PerfEvents};
pub(super) use name::{EventName, Spaces};
