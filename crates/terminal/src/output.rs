//! All output of the program. Results go to standard output; notes, progress and errors go to standard error.
//! Sequences that a terminal would obey are escaped ([`escapes`]). Only two outputs bypass this module: the live
//! view, and the messages of the command-line parser.

#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use rabbitscope_text::escapes;

/// Prints a result. A closed reader (`| head`) is no error.
pub fn result(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", escapes::text(text.trim_end()));
}

/// Prints a result as JSON, over several lines.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    print_json(&serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Prints a result as one line of JSON.
pub fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    print_json(&serde_json::to_string(value)?);
    Ok(())
}

/// Prints metrics in Prometheus' text format.
pub fn metrics(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", escapes::metrics(text.trim_end()));
}

/// Prints a result that is already JSON, as one line.
pub fn json_value(value: &serde_json::Value) {
    print_json(&value.to_string());
}

fn print_json(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", escapes::json(text));
}

/// Replaces the terminal's contents; if standard output is not a terminal, appends to it.
pub fn screen(text: &str) {
    let start = if io::stdout().is_terminal() { "\x1b[H\x1b[2J" } else { "" };
    let _ = writeln!(io::stdout().lock(), "{start}{}\n", escapes::text(text.trim_end()));
}

/// Prints a note for the user that is no result.
pub fn note(text: &str) {
    say(text);
}

/// Prints a message. Only its first line begins at the margin, so that a name with a line break cannot imitate the
/// program. A closed standard error does not end the program.
fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "rabbitscope: {}", said(text));
}

fn said(text: &str) -> String {
    escapes::text(text.trim_end()).replace('\n', "\n  ")
}

/// Warns if the lock of a file or directory may not exclude processes on other machines.
pub fn note_of_lock(file: &std::fs::File, place: &std::path::Path) {
    if let Some(system) = rabbitscope_files::unseen_by_others(file) {
        let place = place.display();
        note(&format!(
            "{place} is on a file system ({system}) whose locks other machines may not see: write to it only from \
             this machine"
        ));
    }
}

/// Prints the error, with the causes that add information.
pub fn error(error: &anyhow::Error) {
    say(&in_one_line(error));
}

/// Joins the causes of an error, outermost first, except those that the previous text already contains.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().skip(1).fold(error.to_string(), |text, cause| {
        let cause = cause.to_string();
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// Returns whether standard error can show a full-screen view, and keys can be read. `prints_lines` means that
/// results are printed continuously, which a view on the same terminal must not overwrite.
pub fn can_show_a_view(prints_lines: bool) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let is_shared = prints_lines && io::stdout().is_terminal();
    io::stderr().is_terminal() && io::stdin().is_terminal() && !is_dumb && !is_shared
}

/// A line that is rewritten in place, if standard error is a terminal.
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
            eprint!("\r\x1b[K{}", escapes::value(text));
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

    use super::{in_one_line, said};

    #[test]
    fn a_name_cannot_speak_for_the_program() {
        let text = said("queue `a\nrabbitscope: all is well\x1b[2J`\n");
        assert_eq!(text, "queue `a\n  rabbitscope: all is well\\x1b[2J`");
    }

    #[test]
    fn causes_are_said_once() {
        let repeated = Err::<(), _>(anyhow!("inner")).context("outer: inner").unwrap_err();
        assert_eq!(in_one_line(&repeated), "outer: inner");
        let added = Err::<(), _>(anyhow!("inner")).context("outer").unwrap_err();
        assert_eq!(in_one_line(&added), "outer: inner");
    }
}
