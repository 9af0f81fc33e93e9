//! The interface between the eBPF program and user space. `bpf/interface.rs` is its one definition:
//! [`definitions`] makes Rust types of it, `build.rs` a C header. [`sample`] gives the fields of a raw
//! sample their meaning, [`time`] is the clock that both sides use.
//!
//! The perf-events backend makes the same raw samples in user space.

mod definitions;
mod sample;
mod time;

pub(crate) use definitions::*;
pub(crate) use time::KernelTime;
