//! The terminal: everything that the program prints, and the error of a user.
//!
//! Nothing else in the workspace prints, except the live view and the parser of the command line.

pub mod output;
mod usage;

pub use output::{
    ProgressLine, can_show_a_view, error, json, json_line, json_value, metrics, note, note_of_lock,
    result, screen,
};
pub use usage::UsageError;
