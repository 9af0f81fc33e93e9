//! `perf.data`: what `perf record` writes. Read once from front to back, so that memory follows the
//! number of distinct stacks and not the length of the recording.
//!
//! [`container`] finds the records, [`rounds`] puts them in order, [`layout`] takes them apart, [`spaces`] remembers
//! which file was mapped where, [`stacks`] counts and names. Names are not in the file: the caller gives them
//! ([`CodeNames`]), and [`files`] says of which build they must be.
//!
//! Written here and not taken from the crate `linux-perf-data`: this reader bounds the memory of everything that a file
//! can claim, records that wait for their turn included. Format: `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

mod container;
mod files;
mod import;
mod layout;
mod named;
mod read;
mod rounds;
mod spaces;
mod stacks;
#[cfg(test)]
mod tests;

pub use files::{RecordedFile, RecordedKernel};
pub use import::{CodeNames, PerfDataError};
pub use read::{read_perf_data, read_perf_data_with};
