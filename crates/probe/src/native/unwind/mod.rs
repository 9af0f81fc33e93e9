//! Finds the caller of a C function. The compiler's unwind tables (`.eh_frame`), which every distribution
//! keeps in its binaries, are compiled to rows of one size that the eBPF program can search ([`rows`],
//! [`blocks`]), for every file that the node has mapped ([`tables`]). The perf-events backend walks with the
//! same rows in user space ([`walk`]).

mod blocks;
#[cfg(fuzzing)]
mod fuzz;
mod rows;
mod tables;
mod walk;

pub(crate) use tables::{Alignment, Tables, UNUSED_MODULE, Update};
pub(crate) use walk::{Step, Walker};

#[cfg(fuzzing)]
pub(crate) use fuzz::fuzz;
