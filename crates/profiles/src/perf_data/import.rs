//! Interface between the reader of `perf.data` and its caller: names of code, and errors.

use super::{
    super::{TooLarge, UnknownValue},
    files::{RecordedFile, RecordedKernel},
};
use std::io;

/// Names of addresses. The answer for an unknown address is `None`.
pub trait CodeNames {
    /// Names the function at `offset` of a file. Another build of the file must not name it.
    fn in_file(&mut self, file: &RecordedFile, offset: u64) -> Option<String>;

    /// Names the function at `address` of the recorded kernel. Another kernel must not name it.
    fn in_kernel(&mut self, kernel: &RecordedKernel, address: u64) -> Option<String>;

    /// Names the function that process `pid` generated at `address` (`/tmp/perf-PID.map`).
    fn generated(&mut self, pid: u32, address: u64) -> Option<String>;
}

/// A failure to read a `perf.data`.
#[derive(Debug, thiserror::Error)]
pub enum PerfDataError {
    /// The input could not be read.
    #[error("cannot read perf.data: {0}")]
    Io(#[from] io::Error),
    /// The file has another format.
    #[error(
        "not a perf.data file: it does not begin with PERFILE2; convert files of machines with another byte order \
         there (perf script > FILE)"
    )]
    Foreign,
    /// The file ends before the end that it states.
    #[error(
        "perf.data is cut off: {what} should end at byte {needed}, but the file ends at byte {found}; copy it again, \
         or record again and stop perf with Ctrl-C"
    )]
    Truncated {
        /// The part that is cut off.
        what: &'static str,
        /// The end that the part should have.
        needed: u64,
        /// The end of the file.
        found: u64,
    },
    /// The file contradicts itself.
    #[error("perf.data is broken at byte {offset}: {problem}; record again")]
    Broken {
        /// Position in the file.
        offset: u64,
        /// The defect.
        problem: &'static str,
    },
    /// The records are compressed (`perf record -z`).
    #[error(
        "the records at byte {offset} are compressed; record without -z, or convert with \
         perf script > FILE"
    )]
    Compressed {
        /// Position in the file.
        offset: u64,
    },
    /// The file lacks the event that the caller chose.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// The profile takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// The file has no event, or no sample.
    #[error("perf.data has no samples; was the recorded process running?")]
    Empty,
}
