//! Conversion of a PerfTest command line to a scenario.
//!
//! `programs` finds the words that belong to PerfTest, `arguments` and `values` read them, and `writer` writes TOML.
//! The other modules write one part of the scenario each. Nothing here runs a scenario.

mod arguments;
mod consumers;
mod conversion;
mod error;
mod pattern;
mod programs;
mod publishers;
mod run;
#[cfg(test)]
mod tests;
mod topology;
mod values;
mod writer;

pub use arguments::has_option;
pub use conversion::{Converted, convert, scenario_of};
pub use error::PerfTestError;
