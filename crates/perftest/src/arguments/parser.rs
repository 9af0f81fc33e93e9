//! Parser of words as options and values, by the rules of `DefaultParser` of commons-cli 1.9.0, which PerfTest uses.
//!
//! Two rules are surprising. An unknown word that begins with `-` is the value of an option that still takes one;
//! anywhere else it is an error. Long names may be shortened, and have one or two dashes.

use super::{
    command_line::Arguments,
    options::{METRICS_OPTIONS, OPTIONS, ProgramOption, Values, all},
};
use crate::{PerfTestError, Program};

/// The option that may take the next word, and the number of its values so far.
struct Current {
    option: &'static ProgramOption,
    values: usize,
}

impl Current {
    fn accepts_value(&self) -> bool {
        accepts_value(self.option) && (self.option.2 == Values::Many || self.values == 0)
    }

    fn lacks_value(&self) -> bool {
        matches!(self.option.2, Values::One | Values::Many) && self.values == 0
    }
}

/// A parser that has read some words.
struct Parser {
    arguments: Arguments,
    current: Option<Current>,
    /// `--` was read: no later word is an option.
    is_over: bool,
}

/// Parses the words after the program's name.
pub(super) fn parse(words: &[String]) -> Result<Arguments, PerfTestError> {
    let arguments = Arguments::new(Program::PerfTest, &[&OPTIONS, &METRICS_OPTIONS]);
    let mut parser = Parser { arguments, current: None, is_over: false };
    for word in words {
        parser.word(word)?;
    }
    parser.check_value()?;
    Ok(parser.arguments)
}

impl Parser {
    fn word(&mut self, word: &str) -> Result<(), PerfTestError> {
        if self.is_over {
            self.arguments.ignore(word);
        } else if word == "--" {
            self.is_over = true;
        } else if self.current.as_ref().is_some_and(Current::accepts_value) && !is_option(word) {
            self.next_value(word);
        } else if word.starts_with("--") {
            self.long(word, word)?;
        } else if word.starts_with('-') && word != "-" {
            self.short_or_long(word)?;
        } else {
            self.arguments.ignore(word);
        }
        if !self.current.as_ref().is_some_and(Current::accepts_value) {
            self.current = None;
        }
        Ok(())
    }

    /// Takes a separate word as a value, without quotes around it.
    fn next_value(&mut self, word: &str) {
        if word.starts_with('-') && word.len() > 1 && word.parse::<f64>().is_err() {
            let option = self.current.as_ref().map_or("", |current| current.option.1);
            self.arguments.note_value(option, word);
        }
        let inner = word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        self.value(inner.filter(|inner| !inner.contains('"')).unwrap_or(word));
    }

    fn value(&mut self, value: &str) {
        if let Some(current) = &mut self.current {
            current.values += 1;
            self.arguments.push(current.option.1, value);
        }
    }

    fn option(&mut self, option: &'static ProgramOption) -> Result<(), PerfTestError> {
        self.check_value()?;
        self.arguments.add(option.1);
        self.current = accepts_value(option).then_some(Current { option, values: 0 });
        Ok(())
    }

    /// Adds an option with a value in the same word, which takes no further one.
    fn option_with(
        &mut self,
        option: &'static ProgramOption,
        values: &[&str],
    ) -> Result<(), PerfTestError> {
        self.option(option)?;
        for value in values {
            self.value(value);
        }
        self.current = None;
        Ok(())
    }

    fn check_value(&self) -> Result<(), PerfTestError> {
        match self.current.as_ref().filter(|current| current.lacks_value()) {
            Some(Current { option, .. }) => {
                let reason = format!("--{} needs a value, as in `--{0} VALUE`", option.1);
                Err(PerfTestError::CommandLine(reason))
            }
            None => Ok(()),
        }
    }

    /// Parses `--name`, `--name=value`, and both with one dash.
    fn long(&mut self, name: &str, word: &str) -> Result<(), PerfTestError> {
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (name, None),
        };
        let option = long_option(name, word)?.ok_or_else(|| unknown(word))?;
        match value {
            Some(value) if accepts_value(option) => self.option_with(option, &[value]),
            Some(_) => Err(unknown(word)),
            None => self.option(option),
        }
    }

    /// Parses a word with one dash.
    fn short_or_long(&mut self, word: &str) -> Result<(), PerfTestError> {
        let token = &word[1..];
        match token.split_once('=') {
            Some((name, value)) => self.short_with(name, value, word),
            None => self.short_without(token, word),
        }
    }

    /// Parses `-x=4`, `-fa=b`, `-producers=4`.
    fn short_with(&mut self, name: &str, value: &str, word: &str) -> Result<(), PerfTestError> {
        let mut letters = name.chars();
        match (letters.next(), letters.as_str()) {
            (Some(_), "") => match by_name(name).filter(|option| accepts_value(option)) {
                Some(option) => self.option_with(option, &[value]),
                None => Err(unknown(word)),
            },
            (Some(first), rest) => match property(first) {
                Some(option) => self.option_with(option, &[rest, value]),
                None => self.long(word, word),
            },
            (None, _) => self.long(word, word),
        }
    }

    /// Parses `-x`, `-qa`, `-producers`, `-size10`, `-fpersistent`, `-apx4`.
    fn short_without(&mut self, token: &str, word: &str) -> Result<(), PerfTestError> {
        if let Some(option) = by_short(token) {
            return self.option(option);
        }
        if token.chars().count() == 1 {
            return Err(unknown(word));
        }
        if has_beginning(token) {
            return self.long(word, word);
        }
        if let Some(option) = long_prefix(token).filter(|option| accepts_value(option)) {
            return self.option_with(option, &[&token[option.1.len()..]]);
        }
        let mut letters = token.chars();
        if let Some(option) = letters.next().and_then(property) {
            return self.option_with(option, &[letters.as_str()]);
        }
        self.joined(token, word)
    }

    /// Parses joined options of one letter, such as `-ap`, or with a value `-apx4`.
    fn joined(&mut self, token: &str, word: &str) -> Result<(), PerfTestError> {
        let mut letters = token.chars();
        while let Some(letter) = letters.next() {
            let mut name = [0; 4];
            let option = by_name(letter.encode_utf8(&mut name)).ok_or_else(|| unknown(word))?;
            self.option(option)?;
            if self.current.is_some() && !letters.as_str().is_empty() {
                self.value(letters.as_str());
                break;
            }
        }
        Ok(())
    }
}

fn unknown(word: &str) -> PerfTestError {
    // The part after `=` may be a secret.
    let word = word.split('=').next().unwrap_or(word);
    PerfTestError::CommandLine(format!(
        "PerfTest 2.22.1 has no option `{word}`; docs/reference/perftest.md lists all"
    ))
}

fn accepts_value(option: &ProgramOption) -> bool {
    option.2 != Values::None
}

/// Removes up to two leading dashes.
fn without_dashes(word: &str) -> &str {
    word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or(word)
}

/// Finds an option by its short name, or by its long name if it has no short one.
fn by_short(name: &str) -> Option<&'static ProgramOption> {
    all().find(|(short, long, ..)| name == if short.is_empty() { *long } else { *short })
}

fn by_long(name: &str) -> Option<&'static ProgramOption> {
    all().find(|(_, long, ..)| name == *long)
}

fn by_name(name: &str) -> Option<&'static ProgramOption> {
    by_short(name).or_else(|| by_long(name))
}

fn has_beginning(name: &str) -> bool {
    all().any(|(_, long, ..)| long.starts_with(name))
}

/// Returns the option with this long name, or with the only long name that begins like this.
fn long_option(name: &str, word: &str) -> Result<Option<&'static ProgramOption>, PerfTestError> {
    let name = without_dashes(name);
    if let Some(option) = by_long(name) {
        return Ok(Some(option));
    }
    let mut begun = all().filter(|(_, long, ..)| long.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some((_, first, ..)), Some((_, second, ..))) => {
            let word = word.split('=').next().unwrap_or(word);
            let reason =
                format!("`{word}` may be --{first} or --{second} of PerfTest: write more letters");
            Err(PerfTestError::CommandLine(reason))
        }
        (option, _) => Ok(option),
    }
}

/// Returns the option with the longest long name that begins the word and leaves at least two letters.
fn long_prefix(token: &str) -> Option<&'static ProgramOption> {
    let most = token.encode_utf16().count().saturating_sub(2);
    let lengths = (2..=most).rev();
    lengths.filter_map(|length| token.get(..length)).find_map(by_long)
}

/// Returns the option of one letter that takes many values; the rest of the word is its values.
fn property(letter: char) -> Option<&'static ProgramOption> {
    let mut name = [0; 4];
    by_name(letter.encode_utf8(&mut name)).filter(|option| option.2 == Values::Many)
}

/// Returns true if the word is an option. No option begins with a digit, so negative numbers are values.
fn is_option(word: &str) -> bool {
    if !word.starts_with('-') || word.len() == 1 {
        return false;
    }
    let name = word.split('=').next().unwrap_or(word);
    let is_long = has_beginning(without_dashes(name))
        || !word.starts_with("--") && long_prefix(without_dashes(word)).is_some();
    let short = &name[1..];
    let first = short.chars().next().map(String::from);
    is_long
        || by_short(without_dashes(short)).is_some()
        || first.is_some_and(|first| by_short(&first).is_some())
}
