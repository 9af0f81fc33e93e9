//! The broker's nodes while the load runs: their usage as the kernel counts it, and figures from inside one.

mod figures;
mod usage;

pub(super) use figures::LatestFigures;
pub(super) use usage::{NodeSum, NodesUsage};
