//! Reader of `perf script` text: a header line per sample, a line per frame, innermost first, and an empty line. It
//! reads line by line and parses only the first of equal stacks.
//!
//! The text was made for people: names of threads hold spaces, and arguments of tracepoints hold anything. So the
//! parser locates fields from the time stamp, the only one of unmistakable form, or from the event.

mod line;
mod read;
#[cfg(test)]
mod tests;

pub use read::{PerfScriptError, is_perf_script, read_perf_script, read_perf_script_with};
