//! Options of the programs that start PerfTest.

use super::{found::refused, shell::Word};
use crate::PerfTestError;

/// The options of a program.
pub(super) struct Flags {
    /// Options with a value.
    pub(super) valued: &'static [&'static str],
    /// Options without a value. If it is empty, these are all others.
    pub(super) plain: &'static [&'static str],
}

/// Options with their values, and the words after them.
type Split<'w> = (Vec<(String, Option<Word>)>, &'w [Word]);

/// Splits off the options before the first other word.
pub(super) fn split<'w>(
    program: &str,
    mut words: &'w [Word],
    flags: &Flags,
) -> Result<Split<'w>, PerfTestError> {
    let mut found = Vec::new();
    while let Some((word, rest)) = words.split_first() {
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        words = rest;
        if word.text == "--" {
            break;
        }
        let lacking = if word.text.starts_with("--") {
            long(program, word, flags, &mut found)?
        } else {
            short(program, word, flags, &mut found)?
        };
        if let Some(name) = lacking {
            let missing = || refused(&format!("{program}: {name} needs a value"));
            let (value, rest) = words.split_first().ok_or_else(missing)?;
            found.push((name, Some(value.clone())));
            words = rest;
        }
    }
    Ok((found, words))
}

type Found = Vec<(String, Option<Word>)>;

/// Parses `--name` and `--name=value`. Returns the name if its value is the next word.
fn long(
    program: &str,
    word: &Word,
    flags: &Flags,
    found: &mut Found,
) -> Result<Option<String>, PerfTestError> {
    if let Some((name, value)) = word.text.split_once('=') {
        found.push((name.to_owned(), Some(word.part(value))));
        return Ok(None);
    }
    if flags.valued.contains(&word.text.as_str()) {
        return Ok(Some(word.text.clone()));
    }
    known(program, &word.text, flags)?;
    found.push((word.text.clone(), None));
    Ok(None)
}

/// Parses `-it`, `-eNAME=value`, `-e`. Returns the name if its value is the next word.
fn short(
    program: &str,
    word: &Word,
    flags: &Flags,
    found: &mut Found,
) -> Result<Option<String>, PerfTestError> {
    let mut letters = word.text[1..].chars();
    while let Some(letter) = letters.next() {
        let name = format!("-{letter}");
        if flags.valued.contains(&name.as_str()) {
            let value = letters.as_str();
            if value.is_empty() {
                return Ok(Some(name));
            }
            found.push((name, Some(word.part(value.strip_prefix('=').unwrap_or(value)))));
            return Ok(None);
        }
        if letters.as_str().starts_with('=') {
            break;
        }
        known(program, &name, flags)?;
        found.push((name, None));
    }
    Ok(None)
}

fn known(program: &str, name: &str, flags: &Flags) -> Result<(), PerfTestError> {
    if flags.plain.is_empty() || flags.plain.contains(&name) {
        return Ok(());
    }
    Err(refused(&format!(
        "the option {name} of {program} is not known here: give only PerfTest's words"
    )))
}
