//! A run of the load, from the start of its threads to its outcome.

mod coordinator;
mod end_conditions;
mod queue_drain;
mod workers;

pub(crate) use coordinator::run_load;
pub(crate) use workers::assemble_workers;
