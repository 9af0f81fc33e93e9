//! The messages of the command line's parser.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use rabbitscope_terminal::output;
use rabbitscope_text::escapes;

/// Prints an error of the command line, or the requested help, and ends the program.
pub fn end_with(error: &clap::Error) -> ! {
    if error.kind() == clap::error::ErrorKind::InvalidUtf8 {
        for name in options_that_are_no_text() {
            output::note(&format!("the environment variable {name} is not text in UTF-8"));
        }
    }
    let plain = error.to_string();
    if let Cow::Owned(harmless) = escapes::text(&plain) {
        let _ = write!(io::stderr().lock(), "{harmless}");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Returns the environment variables for options whose values are not valid text.
fn options_that_are_no_text() -> impl Iterator<Item = String> {
    let given = std::env::vars_os().filter(|(_, value)| value.to_str().is_none());
    let names = given.filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("RABBITSCOPE_") || name == "JOB_COMPLETION_INDEX")
}
