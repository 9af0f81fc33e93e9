//! CPU profile of a running node: attach, count in the kernel, fetch and name, detach.
//!
//! The path of a sample: clock tick → `bpf/sampler.bpf.c` (walks the stacks, sends it; counts equal ones of
//! other events) → [`sampler`] (fetches them now and then) → [`assemble`] (gives names, merges) →
//! `Profile`. Where eBPF is not permitted, [`perf_events`] stands in place of the first two; what both have
//! in common is [`source`]. Everything that was set up in the kernel belongs to file descriptors of this
//! process, so it goes away with it however it ends.

mod assemble;
mod attach;
mod callee;
mod lines;
mod live;
mod naming;
mod perf_events;
mod record;
mod sampler;
mod source;
mod stacks;
mod sums;
mod tick;
mod wire;

pub(crate) use perf_events::permitted_clock;
pub use record::{CpuOptions, Options, Progress, record, record_cpu};
