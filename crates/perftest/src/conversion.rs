//! Conversion of a command line into a scenario.

use rabbitscope_runs::scenario::{self, Protocol};

use crate::{
    PerfTestError, Program, arguments,
    arguments::Arguments,
    consumers, omq, publishers, run, stream_perf_test,
    topology::{self, Target},
    uris::without_password,
    writer::Draft,
};

/// A command line, converted to a scenario.
#[derive(Debug)]
pub struct Converted {
    draft: Draft,
    /// Notes for the reader, mainly on options without an equivalent.
    pub notes: Vec<String>,
    /// URIs of the broker as typed; those in the scenario have no password.
    pub uris: Vec<String>,
}

/// Returns the text of the scenario that is equivalent to a program's command line, with notes as comments.
pub fn scenario_of(program: Program, command_line: &str) -> Result<String, PerfTestError> {
    let mut converted = match program {
        Program::PerfTest => convert(command_line, Protocol::default())?,
        Program::StreamPerfTest => stream_perf_test::convert(command_line)?,
        Program::Omq => omq::convert(command_line)?,
    };
    if converted.uris.is_empty() {
        converted.notes.push("without [broker] uri, the run starts a throwaway broker".into());
    }
    if converted.uris.iter().any(|uri| without_password(uri) != *uri) {
        let note = "the password is left out: give the URI in RABBITSCOPE_URI, or in the file";
        converted.notes.push(note.to_owned());
    }
    let text = converted.text();
    let comments: Vec<_> = converted.notes.iter().map(|note| format!("# {note}\n")).collect();
    Ok(if comments.is_empty() { text } else { format!("{}\n{text}", comments.concat()) })
}

/// Converts PerfTest's command line to the equivalent scenario, which can be run. Its clients use `protocol`.
pub fn convert(command_line: &str, protocol: Protocol) -> Result<Converted, PerfTestError> {
    let mut arguments = arguments::read(command_line)?;
    arguments.load_by(protocol);
    let target = Target::from_arguments(&arguments)?;
    let mut draft = draft(&arguments);
    run::write(&arguments, &mut draft)?;
    topology::write(&arguments, &target, &mut draft)?;
    publishers::write(&arguments, &target, &mut draft)?;
    consumers::write(&arguments, &target, &mut draft)?;
    check(arguments.program(), draft, run::uris(&arguments))
}

/// Creates a draft with notes on options that have no effect.
pub(crate) fn draft(arguments: &Arguments) -> Draft {
    let mut draft = Draft::default();
    for (option, reason) in arguments.without_equivalent() {
        draft.note(format!("--{option} has no equivalent: {reason}"));
    }
    for note in arguments.notes() {
        draft.note(note.clone());
    }
    let program = arguments.program().name();
    for word in arguments.ignored() {
        draft.note(format!("`{word}` belongs to no option: {program} ignores it"));
    }
    draft
}

/// Checks that a complete draft is a scenario which can be run.
pub(crate) fn check(
    program: Program,
    mut draft: Draft,
    uris: Vec<String>,
) -> Result<Converted, PerfTestError> {
    let notes = draft.take_notes();
    let converted = Converted { draft, notes, uris };
    // Files of names are read when the scenario is run.
    let mut any_name = |_: &str| Ok("name".to_owned());
    scenario::parse_with_files(&converted.text(), program.name(), &[], &mut any_name)
        .map_err(|source| PerfTestError::CannotWork { program, source })?;
    Ok(converted)
}

impl Converted {
    /// Returns the text of the scenario, without the notes.
    pub fn text(&self) -> String {
        self.draft.text()
    }
}
