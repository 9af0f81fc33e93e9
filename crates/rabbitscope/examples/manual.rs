//! Writes the man pages and the completions of shells, from the command line's definition:
//!
//! ```text
//! cargo run --example manual DIRECTORY
//! ```
//!
//! `DIRECTORY/man1` has a page for the program and for each command, `DIRECTORY/completions` a file for each shell.

use std::{fs, path::Path};

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use rabbitscope::commands::Cli;

const NAME: &str = "rabbitscope";

fn main() -> anyhow::Result<()> {
    let directory = std::env::args_os().nth(1).context("usage: manual DIRECTORY")?;
    let directory = Path::new(&directory);
    let pages = directory.join("man1");
    fs::create_dir_all(&pages)?;
    clap_mangen::generate_to(Cli::command().name(NAME), &pages)?;
    let completions = directory.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut Cli::command(), NAME, &completions)?;
    }
    Ok(())
}
