//! Options of programs and their values.
//!
//! `options` lists PerfTest's, `parser` parses words by the rules of PerfTest's library, `words` by those of other
//! programs, and `environment` reads variables. `reading` combines them, and `command_line` holds the result.

mod command_line;
mod environment;
mod options;
mod parser;
mod reading;
#[cfg(test)]
mod tests;
mod words;

pub(super) use command_line::Arguments;
pub(super) use environment::is_option as is_variable;
pub use options::has_option;
#[cfg(test)]
pub(super) use options::{METRICS_OPTIONS, OPTIONS};
pub(super) use options::{ProgramOption, Support, Values};
pub(super) use reading::{read, read_words};
pub(super) use words::Style;
