//! Time in a run: its clock, instants and durations, and the CPU time of a thread.

mod nanos;
mod run_clock;
mod run_instant;
mod thread_time;

pub use nanos::Nanos;
pub use run_clock::RunClock;
pub use run_instant::RunInstant;
pub use thread_time::{thread_cpu_time, thread_wait_time};
