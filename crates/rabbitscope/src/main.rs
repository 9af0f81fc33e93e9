//! The plot: parse the command line, execute it, return the exit code.

use std::process::ExitCode;

use rabbitscope::{commands::Cli, exit::Exit, refusal::end_with};
use rabbitscope_terminal::output;

fn main() -> ExitCode {
    // This comes first, so that files are opened and threads started without the privileges of the program's file.
    let lowered = rabbitscope_probe::lower_privileges().map_err(anyhow::Error::from);
    let typed = Cli::typed().unwrap_or_else(|error| end_with(&error));
    let exit = lowered.and_then(|()| typed.execute()).unwrap_or_else(|error| {
        output::error(&error);
        Exit::from_error(&error)
    });
    exit.into()
}
