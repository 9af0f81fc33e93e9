//! Records profiles of a running node: CPU time, waits and memory events.
//!
//! The path of a sample: an event of the table ([`events`]) → a backend ([`backend`] chooses it), which takes
//! a raw sample with the stacks ([`ebpf`] in the kernel, [`perf_events`] in user space) → [`symbolizer`], which
//! gives names and adds up → `Profile`. [`recording`] does this from attach to profile; it knows a backend
//! as a [`sampler`] only. [`continuous`] does it for several nodes, without end, in windows; both work on a
//! [`node_recording`].
//!
//! Everything that is set up in the kernel belongs to file descriptors of this process, so that it is gone
//! with the process, however that ends.

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

pub use backend::{Backend, BackendChoice, choose_backend};
pub use continuous::{ContinuousOptions, ContinuousRecorder, NodeWindow};
pub use options::{CpuOptions, Options, Progress, Recorded};
pub(crate) use perf_events::permitted_clock;
pub use recording::{record, record_cpu};
