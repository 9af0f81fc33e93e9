//! Search for the one command that runs the program.

use super::{
    builds, containers,
    found::{Call, Step, assign, finish, refused},
    names,
    shell::{self, Word},
    wrappers,
};
use crate::{PerfTestError, Program, omq::is_subcommand};

/// Finds the call of a program in a text.
pub(crate) fn call(text: &str, program: Program) -> Result<Call, PerfTestError> {
    let commands = shell::commands(text)?;
    let mut exported = Call { program, ..Call::default() };
    let Some(first) = commands.first().and_then(|command| command.words.first()) else {
        return Ok(exported);
    };
    if let Some(command) = commands.iter().skip(1).find(|command| is_lost_line(command)) {
        let reason = format!("a line begins with `{}`", command.words[0].text);
        return Err(refused(&format!("{reason}: end the line before it with a backslash")));
    }
    let mut found = None;
    for command in &commands {
        let words = match command.words.first().map(|word| word.text.as_str()) {
            Some("export") => {
                export(&command.words[1..], &mut exported)?;
                continue;
            }
            Some(word) if begins_options(word, program) && found.is_none() => {
                return finish(&command.words, exported);
            }
            _ => &command.words,
        };
        match resolve(words, exported.clone())? {
            Some(_) if found.is_some() => {
                let name = program.name();
                return Err(refused(&format!(
                    "{name} is called more than once: give one call at a time"
                )));
            }
            Some(call) => found = Some(call),
            None => {}
        }
    }
    found.ok_or_else(|| unknown(&first.text, program))
}

/// Returns whether a word begins the program's own words: an option, or omq's subcommand.
fn begins_options(word: &str, program: Program) -> bool {
    word.starts_with('-') || program == Program::Omq && is_subcommand(word)
}

fn is_lost_line(command: &shell::Command) -> bool {
    command.begins_line && command.words[0].text.starts_with('-')
}

fn unknown(word: &str, program: Program) -> PerfTestError {
    let name = word.split('=').next().unwrap_or(word);
    let file = match program {
        Program::PerfTest => "`perf-test` or `PerfTest`".to_owned(),
        other => format!("`{}`", other.file()),
    };
    let example = if program == Program::Omq { "stream -x 1 -y 2" } else { "-x 1 -y 2" };
    refused(&format!(
        "`{name}` begins with no option, and {file} is not there either; give the words after the program's name, such \
         as \"{example}\""
    ))
}

fn export(words: &[Word], call: &mut Call) -> Result<(), PerfTestError> {
    words.iter().filter(|word| word.assignment().is_some()).try_for_each(|word| assign(word, call))
}

/// Finds the call in the words of one command. Returns none if they run something else.
fn resolve(words: &[Word], call: Call) -> Result<Option<Call>, PerfTestError> {
    let mut next = Step::Command { words: words.to_vec(), call, otherwise: None };
    let mut refusal = None;
    loop {
        match next {
            Step::Other => return refusal.map_or(Ok(None), Err),
            Step::Found(call) => return Ok(Some(call)),
            Step::Command { words, call, otherwise } => {
                refusal = otherwise.or(refusal);
                next = step(&words, call)?;
            }
            Step::Text(text, outer) => {
                let mut inner = self::call(&text, outer.program)?;
                inner.environment.splice(0..0, outer.environment);
                inner.seconds = inner.seconds.or(outer.seconds);
                return Ok(Some(inner));
            }
        }
    }
}

/// Interprets the first word and the words that belong to it.
fn step(words: &[Word], mut call: Call) -> Result<Step, PerfTestError> {
    let Some((first, rest)) = words.split_first() else { return Ok(Step::Other) };
    if first.assignment().is_some() {
        assign(first, &mut call)?;
        return Ok(Step::command(rest, call));
    }
    if names::is_wanted(names::for_program(&first.text), call.program)? {
        return finish(rest, call).map(Step::Found);
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
