//! The options of a command line, including those from environment variables.

use std::{collections::BTreeMap, str::FromStr};

use rabbitscope_runs::scenario::Protocol;

use super::options::{ProgramOption, Support};
use crate::{PerfTestError, Program, error::invalid_value};

/// The options of a program.
pub(crate) type Options = &'static [&'static [ProgramOption]];

/// The options of a command line, with their values.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(super) program: Program,
    /// All options of the program.
    pub(super) options: Options,
    /// Values by long name; none for options without a value.
    values: BTreeMap<&'static str, Vec<String>>,
    /// Words that belong to no option; the program ignores them.
    ignored: Vec<String>,
    /// Notes for the reader about the interpretation of the command line.
    notes: Vec<String>,
    protocol: Protocol,
}

impl Arguments {
    /// Creates the arguments of a program with these options, none of which is given.
    pub(crate) fn new(program: Program, options: Options) -> Self {
        Self {
            program,
            options,
            values: BTreeMap::new(),
            ignored: Vec::new(),
            notes: Vec::new(),
            protocol: Protocol::default(),
        }
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> Program {
        self.program
    }

    /// Sets the protocol of publishers and consumers. Only AMQP 0-9-1 has queues that the broker names. Over the stream
    /// protocol, queues are streams.
    pub(crate) fn load_by(&mut self, protocol: Protocol) {
        self.protocol = protocol;
        let names = ["queue", "queue-pattern", "queue-file"];
        if protocol != Protocol::Amqp091 && !names.iter().any(|option| self.has(option)) {
            self.push("queue", "perf-test");
        }
        if protocol == Protocol::Stream {
            self.add("stream-queue");
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn has(&self, option: &str) -> bool {
        self.values.contains_key(option)
    }

    /// Returns all options with their values, by name.
    #[cfg(test)]
    pub(crate) fn options(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.values.iter().map(|(name, values)| (*name, values.as_slice()))
    }

    /// Returns the value of an option, the first one if there are several.
    pub(crate) fn text(&self, option: &str) -> Option<&str> {
        self.all(option).first().map(String::as_str)
    }

    pub(crate) fn all(&self, option: &str) -> &[String] {
        self.values.get(option).map_or(&[], Vec::as_slice)
    }

    /// Takes out the first word that belongs to no option and is like this.
    pub(crate) fn take_ignored(&mut self, is_it: fn(&str) -> bool) -> Option<String> {
        let at = self.ignored.iter().position(|word| is_it(word))?;
        Some(self.ignored.remove(at))
    }

    pub(crate) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Returns true if an ignored word ends like this.
    pub(super) fn ignores(&self, end: &str) -> bool {
        self.ignored.iter().any(|word| word.ends_with(end))
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Notes that a value looks like an option.
    pub(crate) fn note_value(&mut self, option: &str, word: &str) {
        self.note(format!("`{word}` is the value of --{option} for PerfTest, not an option"));
    }

    pub(crate) fn ignore(&mut self, word: &str) {
        self.ignored.push(word.to_owned());
    }

    /// Adds an option without a value.
    pub(crate) fn add(&mut self, option: &'static str) {
        self.values.entry(option).or_default();
    }

    pub(crate) fn push(&mut self, option: &'static str, value: &str) {
        self.values.entry(option).or_default().push(value.to_owned());
    }

    /// Replaces the values of an option, or removes the option.
    pub(crate) fn replace(&mut self, option: &'static str, values: Option<Vec<String>>) {
        match values {
            Some(values) => self.values.insert(option, values),
            None => self.values.remove(option),
        };
    }

    /// Returns the value of an option as a number.
    pub(crate) fn number<N: FromStr>(&self, option: &str) -> Result<Option<N>, PerfTestError> {
        let Some(text) = self.text(option) else { return Ok(None) };
        let number = text.parse::<N>();
        number.map_or_else(
            |_| invalid_value(option, text, "a number that fits"),
            |number| Ok(Some(number)),
        )
    }

    /// Returns a count; negative numbers count as 0, and the default is 1.
    pub(crate) fn count(&self, option: &str) -> Result<i64, PerfTestError> {
        Ok(self.number::<i64>(option)?.unwrap_or(1).max(0))
    }

    /// Returns a limit; 0 and negative numbers mean no limit.
    pub(crate) fn limit(&self, option: &str) -> Result<Option<i64>, PerfTestError> {
        Ok(self.number(option)?.filter(|number| *number > 0))
    }

    /// Returns the value of a switch: true for `true`, false for anything else.
    pub(crate) fn switch(&self, option: &str, default: bool) -> bool {
        self.text(option).map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// Returns whether a switch that is on by itself was not switched off.
    pub(crate) fn is_on(&self, option: &str) -> bool {
        self.text(option) != Some("false")
    }

    /// Returns true if `--flag` has exactly this value. PerfTest splits no lists here.
    pub(crate) fn flag(&self, flag: &str) -> bool {
        self.all("flag").iter().any(|value| value == flag)
    }

    /// Returns the options that have no equivalent in a scenario, each with the reason.
    pub(crate) fn without_equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.options.iter().flat_map(|table| table.iter());
        all.filter_map(|(_, long, _, support)| match support {
            Support::Unsupported(reason) if self.has(long) => Some((*long, *reason)),
            _ => None,
        })
    }
}
