//! The interface between the eBPF program and user space, defined once in `bpf/interface.rs`: [`definitions`] makes
//! Rust types of it, `build.rs` a C header. [`sample`] interprets the fields of a raw sample, [`time`] is the clock
//! of both sides.
//!
//! The perf-events backend makes the same raw samples in user space.

mod definitions;
mod sample;
mod time;

pub(crate) use definitions::*;
pub(crate) use time::KernelTime;
