//! PerfTest's options and their values.
//!
//! `options` lists the options, `parser` parses words by the rules of PerfTest's library, and `environment` reads
//! variables. `reading` combines them, and `command_line` holds the result.

mod command_line;
mod environment;
mod options;
mod parser;
mod reading;
#[cfg(test)]
mod tests;

pub(super) use command_line::Arguments;
pub(super) use environment::is_option as is_variable;
pub use options::has_option;
#[cfg(test)]
pub(super) use options::{METRICS_OPTIONS, OPTIONS, PerfTestOption, Support, Values};
pub(super) use reading::read;
