//! Finds the one command that runs PerfTest.

use super::{
    builds, containers, names,
    names::Name,
    shell::{self, Word},
    wrappers,
};
use crate::{PerfTestError, arguments::is_variable};
/// PerfTest's own words, and what else decides what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) words: Vec<String>,
    /// Variables, in order.
    pub(crate) environment: Vec<(String, String)>,
    /// Seconds after which `timeout` ends it.
    pub(crate) seconds: Option<u64>,
    pub(crate) notes: Vec<String>,
}

/// The call that words are; none when they run something else.
pub(super) type Resolved = Result<Option<Call>, PerfTestError>;

/// Finds the call of PerfTest in a text.
pub(crate) fn call(text: &str) -> Result<Call, PerfTestError> {
    let commands = shell::commands(text)?;
    let Some(first) = commands.first().and_then(|command| command.words.first()) else {
        return Ok(Call::default());
    };
    if let Some(command) = commands.iter().skip(1).find(|command| is_lost_line(command)) {
        let reason = format!("a line begins with `{}`", command.words[0].text);
        return Err(refused(&format!("{reason}: end the line before it with a backslash")));
    }
    let mut exported = Call::default();
    let mut found = None;
    for command in &commands {
        let words = match command.words.first().map(|word| word.text.as_str()) {
            Some("export") => {
                export(&command.words[1..], &mut exported)?;
                continue;
            }
            Some(word) if word.starts_with('-') && found.is_none() => {
                return finish(&command.words, exported);
            }
            _ => &command.words,
        };
        match resolve(words, exported.clone())? {
            Some(_) if found.is_some() => {
                return Err(refused("PerfTest is called more than once: give one call at a time"));
            }
            Some(call) => found = Some(call),
            None => {}
        }
    }
    found.ok_or_else(|| unknown(&first.text))
}

fn is_lost_line(command: &shell::Command) -> bool {
    command.begins_line && command.words[0].text.starts_with('-')
}

fn unknown(word: &str) -> PerfTestError {
    let name = word.split('=').next().unwrap_or(word);
    refused(&format!(
        "`{name}` begins with no option, and `perf-test` or `PerfTest` is not there either; \
         give the words after the program's name, such as \"-x 1 -y 2\""
    ))
}

/// The error for a command line that is not understood.
pub(super) fn refused(reason: &str) -> PerfTestError {
    PerfTestError::CommandLine(format!("--from-perftest: {reason}"))
}

fn export(words: &[Word], call: &mut Call) -> Result<(), PerfTestError> {
    words.iter().filter(|word| word.assignment().is_some()).try_for_each(|word| assign(word, call))
}

/// Adds a variable, if the word is an assignment.
pub(super) fn assign(word: &Word, call: &mut Call) -> Result<(), PerfTestError> {
    let Some((name, value)) = word.text.split_once('=') else { return Ok(()) };
    if is_variable(name) {
        check(word)?;
    }
    call.environment.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// Refuses a word that only a shell can complete.
fn check(word: &Word) -> Result<(), PerfTestError> {
    match &word.substitution {
        Some(text) => Err(refused(&format!("`{text}` is not replaced here: write its value"))),
        None => Ok(()),
    }
}

/// Takes words as PerfTest's own.
pub(super) fn finish(words: &[Word], mut call: Call) -> Result<Call, PerfTestError> {
    words.iter().try_for_each(check)?;
    call.words = words.iter().map(|word| word.text.clone()).collect();
    Ok(call)
}

/// Finds the call in the words of one command.
pub(super) fn resolve(words: &[Word], mut call: Call) -> Resolved {
    let Some((first, rest)) = words.split_first() else { return Ok(None) };
    if first.assignment().is_some() {
        assign(first, &mut call)?;
        return resolve(rest, call);
    }
    match names::of_program(&first.text) {
        Name::PerfTest => return finish(rest, call).map(Some),
        Name::Multi => return Err(names::multi()),
        Name::Stream => return Err(names::stream()),
        Name::Other => {}
    }
    match names::base(&first.text) {
        "java" => builds::java(rest, call),
        "runjava" | "runjava.sh" | "runjava.bat" => builds::main_class(rest, call),
        "mvn" | "mvnw" | "mvnd" => builds::maven(rest, call),
        "make" | "gmake" => builds::make(rest, call),
        "docker" | "podman" | "nerdctl" => containers::container(rest, call),
        "kubectl" | "oc" | "k" => containers::kubectl(rest, call),
        name => wrappers::wrapped(name, rest, call),
    }
}
