//! The perf-events backend: clocks on each thread of the node. The kernel writes their samples into ring buffers,
//! with the user's registers, the inner part of its stack and its frame-pointer chain. An ordinary user may record
//! their own processes this way (`sysctl kernel.perf_event_paranoid`).
//!
//! The path of a sample: [`clock`] → [`ring`] → [`records`] → [`stack`] → a raw sample as from the eBPF program. In
//! comparison it lacks:
//!
//! * the Erlang stack below C functions without frame pointers;
//! * the process, if the walk of the C frames is incomplete;
//! * names of BIFs that only the VM stores.

mod clock;
mod records;
mod ring;
mod sampler;
mod stack;
mod threads;

pub(crate) use clock::permitted_clock;
pub(super) use sampler::PerfEventsSampler;
