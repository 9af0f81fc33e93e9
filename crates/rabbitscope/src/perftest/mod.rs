//! A PerfTest command line as a scenario.
//!
//! `options` knows PerfTest's options, `command_line` reads what was typed, `writer` writes TOML, the others
//! write one part of the scenario each. Nothing here runs anything.

mod arguments;
mod command_line;
mod consumers;
mod options;
mod pattern;
mod publishers;
mod run;
mod topology;
mod writer;

use anyhow::Context;
use rabbitscope_data::scenario;

use crate::exit::UsageError;
use topology::Target;
use writer::Draft;

/// The scenario that does what PerfTest would do when called like this. Options that have no
/// equivalent are named in comments. What is printed is a scenario that can be run.
pub fn scenario_of(command_line: &str) -> anyhow::Result<String> {
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
    let text = draft.finish();
    // Files of names are read when it is run.
    let mut any_name = |_: &str| Ok("name".to_owned());
    scenario::parse_with_files(&text, "--from-perftest", &[], &mut any_name)
        .with_context(|| "PerfTest takes this command line, but it cannot work")?;
    Ok(text)
}

/// An option whose value is not what PerfTest takes.
fn wrong<T>(option: &str, value: &str, expected: &str) -> Result<T, UsageError> {
    Err(UsageError(format!("--{option}: `{value}` is not {expected}")))
}

#[cfg(test)]
mod tests;
