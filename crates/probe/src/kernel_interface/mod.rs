//! The interface between the eBPF program and user space, defined once in `bpf/interface.rs`: [`definitions`] makes
//! Rust types of it, `build.rs` a C header. [`sample`] interprets the fields of a raw sample, [`time`] is the clock
//! of both sides. [`signals`] holds signals back while the kernel loads a program.
//!
//! The perf-events backend makes the same raw samples in user space.

mod definitions;
mod sample;
mod signals;
mod time;

pub(crate) use definitions::*;
pub(crate) use signals::HeldSignals;
pub(crate) use time::KernelTime;
