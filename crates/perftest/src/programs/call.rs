//! Search for the one command that runs PerfTest.

use super::{
    builds, containers,
    found::{Call, Step, assign, finish, refused},
    names,
    names::Name,
    shell::{self, Word},
    wrappers,
};
use crate::PerfTestError;

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
                let mut inner = self::call(&text)?;
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
    match names::for_program(&first.text) {
        Name::PerfTest => return finish(rest, call).map(Step::Found),
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
