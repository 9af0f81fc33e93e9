//! Adds up what the threads of a run report: rows, totals, losses, the self-check of the load generator.

mod aggregator;
mod interval;
mod losses;
mod self_check;
mod service_log;
mod trace;
mod warm_up;

pub(crate) use aggregator::Aggregator;
