//! One run of a scenario from beginning to end: broker, load, profile, run directory, summary.
//!
//! ```text
//! target ─► session open ─► load + profile, a row a second ─► session close ─► record, report
//! ```
//!
//! The load, the profiler and the printing are elsewhere.

mod breakdown;
mod broker;
mod faults;
mod interruptions;
mod judgement;
mod nodes;
mod owners;
mod pages;
mod record;
mod recording;
mod results;
mod seconds;
mod snapshot;
mod steps;
mod summary;
mod unconsumed;
mod under_load;
mod window_names;

pub(crate) use record::record_before;

pub use broker::{EarlierRuns, Target, dialer, sweep_dead_brokers};
pub use record::{Finished, PrintedRun};
pub use recording::recording_progress;
pub use steps::{check, check_repeated, drawn_seed, run, run_on};
pub use summary::{ProfileSummary, second, summary};
