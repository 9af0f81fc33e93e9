//! Conversion of a command line of PerfTest, Stream PerfTest or omq to a scenario.
//!
//! `programs` finds the words that belong to the program, `arguments` and `values` read them, and `writer` writes TOML.
//! `stream_perf_test` and `omq` have the options and sections of these programs; the other modules write one part of a
//! scenario of PerfTest each. Nothing here runs a scenario.

mod arguments;
mod broker;
#[cfg(test)]
mod checks;
mod consumers;
mod conversion;
mod error;
mod omq;
mod pattern;
mod program;
mod programs;
mod publishers;
mod run;
mod stream_perf_test;
#[cfg(test)]
mod tests;
mod topology;
mod uris;
mod values;
mod writer;

pub use arguments::has_option;
pub use conversion::{Converted, convert, scenario_of};
pub use error::PerfTestError;
pub use program::Program;
