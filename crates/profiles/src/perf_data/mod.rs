//! Reader of `perf.data`, the output of `perf record`. It reads once from front to back, so memory follows the number
//! of distinct stacks, not the length of the recording.
//!
//! [`container`] finds the records, [`records`] orders them, [`layout`] parses them, [`spaces`] tracks mappings,
//! [`stacks`] counts and names stacks. The file has no names: the caller provides them ([`CodeNames`]) for the builds
//! that [`files`] identifies.
//!
//! This is not the crate `linux-perf-data`. Version 0.13 allocates what a damaged file claims, which aborts the program,
//! keeps a whole file without marks in memory, and reads no samples of tracepoints in pipe output.
//!
//! Format: `tools/perf/Documentation/perf.data-file-format.txt` of Linux.

mod container;
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

pub use files::{RecordedFile, RecordedKernel};
pub use import::{CodeNames, PerfDataError};
pub use read::{read_perf_data, read_perf_data_with};
