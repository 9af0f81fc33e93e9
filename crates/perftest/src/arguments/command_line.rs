//! The options of a PerfTest command line, those of its environment included.

use std::{collections::BTreeMap, str::FromStr};

use super::options::{Support, all};
use crate::{PerfTestError, error::invalid_value};

/// The options of a command line with their values.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Values by long name; empty for options without one.
    values: BTreeMap<&'static str, Vec<String>>,
    /// Words that belong to no option; PerfTest ignores them.
    ignored: Vec<String>,
    /// Lines for the reader about how the command line was read.
    notes: Vec<String>,
}

impl Arguments {
    pub(crate) fn has(&self, option: &str) -> bool {
        self.values.contains_key(option)
    }

    /// All options with their values, by name.
    #[cfg(test)]
    pub(crate) fn options(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.values.iter().map(|(name, values)| (*name, values.as_slice()))
    }

    /// The value, the first one when there are several.
    pub(crate) fn text(&self, option: &str) -> Option<&str> {
        self.all(option).first().map(String::as_str)
    }

    pub(crate) fn all(&self, option: &str) -> &[String] {
        self.values.get(option).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Tells whether a word that is ignored ends like this.
    pub(super) fn ignores(&self, end: &str) -> bool {
        self.ignored.iter().any(|word| word.ends_with(end))
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Notes a value that looks like an option.
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

    /// Replaces an option by its values, or removes it.
    pub(crate) fn replace(&mut self, option: &'static str, values: Option<Vec<String>>) {
        match values {
            Some(values) => self.values.insert(option, values),
            None => self.values.remove(option),
        };
    }

    /// A number.
    pub(crate) fn number<N: FromStr>(&self, option: &str) -> Result<Option<N>, PerfTestError> {
        let Some(text) = self.text(option) else { return Ok(None) };
        text.parse()
            .map_or_else(|_| invalid_value(option, text, "a number that fits"), |it| Ok(Some(it)))
    }

    /// A count; numbers below 0 count as 0, and the default is 1.
    pub(crate) fn count(&self, option: &str) -> Result<i64, PerfTestError> {
        Ok(self.number::<i64>(option)?.unwrap_or(1).max(0))
    }

    /// A limit; numbers of 0 and less mean that there is none.
    pub(crate) fn limit(&self, option: &str) -> Result<Option<i64>, PerfTestError> {
        Ok(self.number(option)?.filter(|number| *number > 0))
    }

    /// `true` or anything else, which is false.
    pub(crate) fn switch(&self, option: &str, default: bool) -> bool {
        self.text(option).map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// Whether `--flag` has exactly this value; PerfTest splits no lists here.
    pub(crate) fn flag(&self, flag: &str) -> bool {
        self.all("flag").iter().any(|value| value == flag)
    }

    /// Options of the command line that have no equivalent in a scenario, with the reason.
    pub(crate) fn without_equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        all().filter_map(|(_, long, _, support)| match support {
            Support::Unsupported(reason) if self.has(long) => Some((*long, *reason)),
            _ => None,
        })
    }
}
