//! All that the program prints. Results go to standard output; notes, progress and errors to
//! standard error.

#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

/// Prints a result. A reader that went away (`| head`) is no error.
pub fn result(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", text.trim_end());
}

/// Prints a result as JSON.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    result(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Replaces what is on the terminal; elsewhere adds to what was printed before.
pub fn screen(text: &str) {
    let start = if io::stdout().is_terminal() { "\x1b[H\x1b[2J" } else { "" };
    let _ = writeln!(io::stdout().lock(), "{start}{}\n", text.trim_end());
}

/// Says something that the person should know but that is no result.
pub fn note(text: &str) {
    eprintln!("rabbitscope: {text}");
}

/// Says why the program failed, with the causes that add something.
pub fn error(error: &anyhow::Error) {
    eprintln!("rabbitscope: {}", in_one_line(error));
}

/// The causes of an error, outermost first, without those that the text before already contains.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// True when standard error can show a view that fills the terminal and keys can be read.
/// `prints_lines`: results come all the time, which a view on the same terminal must not overwrite.
pub fn can_show_a_view(prints_lines: bool) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let is_shared = prints_lines && io::stdout().is_terminal();
    io::stderr().is_terminal() && io::stdin().is_terminal() && !is_dumb && !is_shared
}

/// A line that is rewritten in place, when somebody watches.
#[derive(Debug)]
pub struct ProgressLine {
    watched: bool,
}

impl Default for ProgressLine {
    fn default() -> Self {
        Self { watched: io::stderr().is_terminal() }
    }
}

impl ProgressLine {
    /// Replaces the line.
    pub fn show(&self, text: &str) {
        if self.watched {
            eprint!("\r\x1b[K{text}");
            let _ = io::stderr().flush();
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.watched {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::in_one_line;

    #[test]
    fn causes_are_said_once() {
        let repeated = Err::<(), _>(anyhow!("inner")).context("outer: inner").unwrap_err();
        assert_eq!(in_one_line(&repeated), "outer: inner");
        let added = Err::<(), _>(anyhow!("inner")).context("outer").unwrap_err();
        assert_eq!(in_one_line(&added), "outer: inner");
    }
}
