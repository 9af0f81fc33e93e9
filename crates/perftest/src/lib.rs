//! A PerfTest command line as a scenario.
//!
//! `options` lists PerfTest's options, `command_line` and `values` parse them, `writer` writes TOML, and the
//! other modules write one part of the scenario each. Nothing here runs a scenario.

mod command_line;
mod consumers;
mod conversion;
mod error;
mod options;
mod pattern;
mod publishers;
mod run;
#[cfg(test)]
mod tests;
mod topology;
mod values;
mod writer;

pub use conversion::{Converted, convert, scenario_of};
pub use error::PerfTestError;
pub use options::has_option;
