//! The run itself: assembles workers, receives reports and decides the end. If several processes share a run, each runs
//! its part (`part`) and reports to another process, which joins the parts (`remote`).

mod coordinator;
mod end_conditions;
mod final_depths;
mod latest_end;
mod part;
mod queue_drain;
mod remote;
#[cfg(test)]
mod remote_tests;
mod run_time;
mod token_watch;
mod waiting_bounds;
mod workers;

pub(crate) use coordinator::{run_load, wait_for_start};
pub use part::run_part;
pub(crate) use remote::run_remote;
pub(crate) use workers::assemble_workers;
