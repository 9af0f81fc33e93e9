//! A recorded run as a case, so that the limit, findings and differences of a run are those of a check.
//!
//! * `reading`: the files of a run directory;
//! * `broker`, `machine`, `load`: the parts that a run records of the broker, the machine and the load generator;
//! * `measured`: the seconds to which rates apply;
//! * `unrecorded`: the parts that this run does not have, each with the way to record it.

mod broker;
mod load;
mod machine;
mod measured;
mod reading;
#[cfg(test)]
mod tests;
mod unrecorded;

pub use reading::{case_of_run, read_run_directory};
