//! Time in a run: its clock, instants and durations, and the CPU time of a thread.

mod nanos;
mod run_clock;
mod run_instant;
mod thread_time;

pub(crate) use nanos::Nanos;
pub(crate) use run_clock::RunClock;
pub(crate) use run_instant::RunInstant;
pub(crate) use thread_time::{thread_cpu_time, thread_wait_time};
