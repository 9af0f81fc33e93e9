//! `perf script` text: a line that says who and when, a line for each frame, innermost first, an
//! empty line. Read line by line; of equal stacks only the first is looked at.
//!
//! The text was made for people: names of threads hold spaces, arguments of tracepoints hold
//! anything. Fields are therefore found from the time stamp, the only one of unmistakable form, or from the event.

mod line;
mod read;
#[cfg(test)]
mod tests;

pub use read::{PerfScriptError, is_perf_script, read_perf_script, read_perf_script_with};
