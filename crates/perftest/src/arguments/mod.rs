//! PerfTest's options and their values.
//!
//! `options` lists the options, `parser` reads words by the rules of PerfTest's library, `environment` reads variables,
//! `command_line` has what was read.

mod command_line;
#[cfg(test)]
mod differential;
mod environment;
#[cfg(test)]
mod misspelt;
mod options;
mod parser;

pub(super) use command_line::{Arguments, read};
pub(super) use environment::is_option as is_variable;
pub use options::has_option;
#[cfg(test)]
pub(super) use options::{METRICS_OPTIONS, OPTIONS, PerfTestOption, Support, Values};
