//! The plot: what was typed, doing it, how it ended.

use std::process::ExitCode;

use clap::Parser;
use rabbitscope::{commands::Cli, exit::Exit, output};

fn main() -> ExitCode {
    let exit = Cli::parse().execute().unwrap_or_else(|error| {
        output::error(&error);
        Exit::of(&error)
    });
    exit.into()
}
