//! The sum of the reports of a run's threads: rows, totals, losses, the self-check of the load generator.

mod aggregator;
mod breakdown;
mod interval;
mod losses;
mod open_intervals;
mod self_check;
mod service_log;
mod trace;
mod warm_up;

pub use aggregator::Aggregator;
pub use open_intervals::Waiting;
