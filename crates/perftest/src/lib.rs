//! A PerfTest command line as a scenario.
//!
//! `options` knows PerfTest's options, `command_line` reads what was typed, `writer` writes TOML, the others
//! write one part of the scenario each. Nothing here runs anything.

mod arguments;
mod command_line;
mod consumers;
mod error;
mod options;
mod pattern;
mod publishers;
mod run;
mod topology;
mod writer;

use rabbitscope_runs::scenario;

pub use error::PerfTestError;
use topology::Target;
use writer::Draft;

/// A PerfTest command line, as a scenario.
#[derive(Debug)]
pub struct Converted {
    draft: Draft,
    /// What the reader should know: above all, options that have no equivalent.
    pub notes: Vec<String>,
    /// The broker's URIs as they were typed; the scenario's have no password.
    pub uris: Vec<String>,
}

/// The text of the scenario that does what PerfTest would do when called like this, notes included as
/// comments.
pub fn scenario_of(command_line: &str) -> Result<String, PerfTestError> {
    let mut converted = convert(command_line)?;
    if converted.uris.is_empty() {
        converted
            .notes
            .push("without [broker] uri a throwaway broker is started for the run".into());
    }
    if converted.uris.iter().any(|uri| run::without_password(uri) != *uri) {
        let note = "the password is left out: give the URI in RABBITSCOPE_URI, or in the file";
        converted.notes.push(note.to_owned());
    }
    let text = converted.text();
    let comments: Vec<_> = converted.notes.iter().map(|note| format!("# {note}\n")).collect();
    Ok(if comments.is_empty() { text } else { format!("{}\n{text}", comments.concat()) })
}

/// The scenario that does what PerfTest would do when called like this. It can be run.
pub fn convert(command_line: &str) -> Result<Converted, PerfTestError> {
    let given = command_line::read(command_line)?;
    let target = Target::of(&given)?;
    let mut draft = Draft::default();
    for (option, reason) in given.without_equivalent() {
        draft.note(format!("--{option} has no equivalent: {reason}"));
    }
    for word in given.ignored() {
        draft.note(format!("`{word}` belongs to no option: PerfTest ignores it"));
    }
    run::write(&given, &mut draft)?;
    topology::write(&given, &target, &mut draft)?;
    publishers::write(&given, &target, &mut draft)?;
    consumers::write(&given, &target, &mut draft)?;
    let notes = draft.take_notes();
    let converted = Converted { draft, notes, uris: run::uris(&given) };
    // Files of names are read when it is run.
    let mut any_name = |_: &str| Ok("name".to_owned());
    scenario::parse_with_files(&converted.text(), "PerfTest", &[], &mut any_name)
        .map_err(PerfTestError::CannotWork)?;
    Ok(converted)
}

impl Converted {
    /// The scenario, without the notes.
    pub fn text(&self) -> String {
        self.draft.text()
    }
}

/// Whether PerfTest has an option of just this name.
pub fn has_option(long: &str) -> bool {
    options::all().any(|(_, name, ..)| *name == long)
}

/// An option whose value is not what PerfTest takes.
fn wrong<T>(option: &str, value: &str, expected: &str) -> Result<T, PerfTestError> {
    Err(PerfTestError::CommandLine(format!("--{option}: `{value}` is not {expected}")))
}

#[cfg(test)]
mod tests;
