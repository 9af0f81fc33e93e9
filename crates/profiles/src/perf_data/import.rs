//! What a reader of `perf.data` needs from its caller, and what it may answer.

use super::{
    super::{TooLarge, UnknownValue},
    files::{RecordedFile, RecordedKernel},
};
use std::io;

/// Gives names to addresses. A name that is not known is `None`.
pub trait CodeNames {
    /// The function at `offset` of a file. No other build of the file may name it.
    fn in_file(&mut self, file: &RecordedFile, offset: u64) -> Option<String>;

    /// The function at `address` of the kernel that was recorded. No other kernel may name it.
    fn in_kernel(&mut self, kernel: &RecordedKernel, address: u64) -> Option<String>;

    /// The function that process `pid` generated at `address` while it ran (`/tmp/perf-PID.map`).
    fn generated(&mut self, pid: u32, address: u64) -> Option<String>;
}

/// Why a `perf.data` could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PerfDataError {
    /// The input could not be read.
    #[error("cannot read perf.data: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error(
        "not a perf.data file: it does not begin with PERFILE2; files of a machine of other byte \
         order must be converted there (perf script > FILE)"
    )]
    Foreign,
    /// It ends before the end that it states.
    #[error(
        "perf.data is cut off: {what} should end at byte {needed}, the file at byte {found}; copy it \
         again, or record again and end perf with Ctrl-C"
    )]
    Truncated {
        /// Which part.
        what: &'static str,
        /// Where it should end.
        needed: u64,
        /// Where the file ends.
        found: u64,
    },
    /// It does not add up.
    #[error("perf.data is broken at byte {offset}: {problem}; record again")]
    Broken {
        /// From the beginning of the file.
        offset: u64,
        /// What is wrong there.
        problem: &'static str,
    },
    /// `perf record -z`.
    #[error(
        "the records at byte {offset} are compressed; record without -z, or convert with \
         perf script > FILE"
    )]
    Compressed {
        /// From the beginning of the file.
        offset: u64,
    },
    /// It does not have what was asked for.
    #[error(transparent)]
    Value(#[from] UnknownValue),
    /// What it holds takes too much memory.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// No event, or no sample of one.
    #[error("perf.data has no samples; was the recorded process running?")]
    Empty,
}
