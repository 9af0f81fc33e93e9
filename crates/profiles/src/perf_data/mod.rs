//! `perf.data`: what `perf record` writes. Read once from front to back, so that memory follows the
//! number of distinct stacks and not the length of the recording.
//!
//! [`container`] finds the records, [`layout`] takes them apart, [`spaces`] remembers which file was
//! mapped where. Names are not in the file: whoever calls gives them ([`CodeNames`]).
//!
//! Written here and not taken from the crate `linux-perf-data`, which sorts all records and sets
//! aside memory for each of them, trusts the sizes that a file claims, and panics on some that are
//! wrong. Format: `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

mod container;
mod import;
mod layout;
mod named;
mod read;
mod spaces;
#[cfg(test)]
mod tests;

pub use import::{CodeNames, PerfDataError};
pub use read::{read_perf_data, read_perf_data_within};
