//! Finds the caller of a C function. Every distribution keeps the compiler's unwind tables (`.eh_frame`) in its
//! binaries. [`rows`] and [`blocks`] compile them to rows of one size that the eBPF program can search, [`tables`]
//! does so for every file that the node has mapped. The perf-events backend walks with the same rows in user space
//! ([`walk`]).

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
