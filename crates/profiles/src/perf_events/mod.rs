//! Events of perf: what their names say, which of them belong together, and the weights of their samples.

mod events;
mod name;
#[cfg(test)]
mod tests;

pub(super) use events::{Chosen, PerfEvents};
pub(super) use name::{EventName, Spaces};
