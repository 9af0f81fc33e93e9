//! Reader of `perf.data`, the output of `perf record`. It reads once from front to back, so memory follows the number
//! of distinct stacks, not the length of the recording.
//!
//! [`container`] finds the records, [`records`] reads them, [`layout`] parses them, [`turns`] orders them, [`spaces`]
//! tracks mappings, [`distinct`] keeps stacks and their counts, [`stacks`] names them. The file has no names: the caller
//! provides them ([`CodeNames`]) for the builds that [`files`] identifies.
//!
//! This is not the crate `linux-perf-data`. Version 0.13 allocates what a damaged file claims, which aborts the program,
//! keeps a whole file without marks in memory, and reads no samples of tracepoints in pipe output.
//!
//! Format: `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

mod container;
mod distinct;
mod files;
mod import;
mod layout;
mod named;
mod read;
mod records;
mod spaces;
mod stacks;
#[cfg(test)]
mod tests;
mod turns;

pub use files::{RecordedFile, RecordedKernel};
pub use import::{CodeNames, PerfDataError};
pub use read::{read_perf_data, read_perf_data_with};
