//! CPU samples and times off the CPU, recorded together, as figures of a case.
//!
//! * `recording`: the recording, and the names of processes;
//! * `cpu`, `waits`: a profile as CPU time and as time off the CPU;
//! * `activity`: busy waiting, locks and garbage collection in a stack;
//! * `by_process`: samples of each Erlang process;
//! * `owners`: the sums of all processes by queue and by client.

mod activity;
mod by_process;
mod cpu;
mod locks;
mod owners;
mod recording;
mod waits;

pub(crate) use cpu::cpu;
pub(crate) use recording::{ProfileParts, record};
pub(crate) use waits::waits;
