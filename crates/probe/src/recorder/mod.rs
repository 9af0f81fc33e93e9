//! Records profiles of a running node: CPU time, waits and memory events.
//!
//! The path of a sample:
//!
//! 1. An event of the table ([`events`]) occurs.
//! 2. A backend, chosen by [`backend`], takes a raw sample with the stacks: [`ebpf`] in the kernel, [`perf_events`]
//!    in user space.
//! 3. [`symbolizer`] names frames and adds up weights.
//! 4. The result is a `Profile`.
//!
//! [`recording`] leads one recording along this path and knows a backend only as a [`sampler`]. [`continuous`]
//! records several nodes continuously, in windows. Both work on a [`node_recording`].
//!
//! All state in the kernel belongs to file descriptors of this process, so that it ends with the process in any
//! case.

mod backend;
mod continuous;
mod ebpf;
mod events;
mod jit_segments;
mod node_recording;
mod options;
mod perf_events;
mod recording;
mod sampler;
mod symbolizer;
mod windows;

pub use backend::{Backend, BackendChoice, choose_backend};
pub use continuous::{ContinuousOptions, ContinuousRecorder, NodeWindow};
pub use options::{CpuOptions, Options, Progress, Recorded};
pub(crate) use perf_events::permitted_clock;
pub use recording::{record, record_cpu, record_windows};
pub use windows::Windows;
