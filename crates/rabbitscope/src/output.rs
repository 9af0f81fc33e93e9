//! All that the program prints. Results go to standard output; notes, progress and errors to
//! standard error. Nothing gets there that a terminal would obey ([`escapes`]): what does not come
//! through here is the live view, and what the parser of the command line says.

#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::{
    borrow::Cow,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;

use rabbitscope_text::escapes;

/// Prints a result. A reader that went away (`| head`) is no error.
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

/// Prints metrics in the form of Prometheus.
pub fn metrics(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", escapes::metrics(text.trim_end()));
}

/// Prints a result that is JSON already, as one line.
pub fn json_value(value: &serde_json::Value) {
    print_json(&value.to_string());
}

fn print_json(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", escapes::json(text));
}

/// Replaces what is on the terminal; elsewhere adds to what was printed before.
pub fn screen(text: &str) {
    let start = if io::stdout().is_terminal() { "\x1b[H\x1b[2J" } else { "" };
    let _ = writeln!(io::stdout().lock(), "{start}{}\n", escapes::text(text.trim_end()));
}

/// Says something that the person should know but that is no result.
pub fn note(text: &str) {
    say(text);
}

/// Only the first line begins at the edge, so that no name with a line end can speak for the program. A
/// closed standard error is no reason to end.
fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "rabbitscope: {}", said(text));
}

fn said(text: &str) -> String {
    escapes::text(text.trim_end()).replace('\n', "\n  ")
}

/// Says what is wrong with the command line, or what was asked for about it, and ends the program.
pub fn command_line(error: &clap::Error) -> ! {
    if error.kind() == clap::error::ErrorKind::InvalidUtf8 {
        for name in options_that_are_no_text() {
            say(&format!("the environment variable {name} is not text in UTF-8"));
        }
    }
    let plain = error.to_string();
    if let Cow::Owned(harmless) = escapes::text(&plain) {
        let _ = write!(io::stderr().lock(), "{harmless}");
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Variables of the environment that may stand for options and are not text.
fn options_that_are_no_text() -> impl Iterator<Item = String> {
    let given = std::env::vars_os().filter(|(_, value)| value.to_str().is_none());
    let names = given.filter_map(|(name, _)| name.into_string().ok());
    names.filter(|name| name.starts_with("RABBITSCOPE_") || name == "JOB_COMPLETION_INDEX")
}

/// Says that the lock of a file or directory that is written to may keep no other machine out.
pub fn note_of_lock(file: &std::fs::File, place: &std::path::Path) {
    if let Some(system) = rabbitscope_files::unseen_by_others(file) {
        let place = place.display();
        note(&format!(
            "{place} is on a file system ({system}) on which other machines may not see that it is in use: write to it \
             from this machine alone"
        ));
    }
}

/// Says why the program failed, with the causes that add something.
pub fn error(error: &anyhow::Error) {
    say(&in_one_line(error));
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
