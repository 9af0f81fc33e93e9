//! The options of a PerfTest command line, those of its environment included.

use std::{collections::BTreeMap, str::FromStr};

use super::{
    environment,
    options::{Support, all},
    parser,
};
use crate::{PerfTestError, error::invalid_value, programs};

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

/// Parses a command line. The program's name and what starts it may stand before the options.
pub(crate) fn read(command_line: &str) -> Result<Arguments, PerfTestError> {
    let call = programs::call(command_line)?;
    let mut arguments = parser::parse(&call.words)?;
    if arguments.ignored.iter().any(|word| word.ends_with("PerfTestMulti")) {
        return Err(programs::multi());
    }
    arguments.notes.extend(call.notes);
    environment::apply(&call.environment, &mut arguments);
    if let Some(seconds) = call.seconds {
        limit(seconds, &mut arguments);
    }
    Ok(arguments)
}

/// Applies the time after which `timeout` would end PerfTest.
fn limit(seconds: u64, arguments: &mut Arguments) {
    if arguments.has("time") {
        arguments.note(format!("`timeout {seconds}` is not looked at: --time says how long"));
    } else {
        arguments.note(format!("`timeout {seconds}` becomes the duration"));
        arguments.push("time", &seconds.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_in_every_form() {
        fn check(text: &str, option: &str, expected: Option<&str>) {
            let arguments = read(text).unwrap();
            assert_eq!(arguments.text(option), expected, "{text}");
        }
        check("-x 3", "producers", Some("3"));
        check("-x3", "producers", Some("3"));
        check("--producers=3", "producers", Some("3"));
        check("-c -1", "confirm", Some("-1"));
        check(
            "bin/runjava com.rabbitmq.perf.PerfTest -qp perf-test-%d",
            "queue-pattern",
            Some("perf-test-%d"),
        );
        check("docker run -it --rm pivotalrabbitmq/perf-test:latest -u q", "queue", Some("q"));
        check("java -jar perf-test.jar --id perf-test -u q", "id", Some("perf-test"));
        assert!(read("-x 1 -a").unwrap().has("autoack"));
        check("--queue-pattern-fr 4", "queue-pattern-from", Some("4"));
        check("-x 3 -x 4", "producers", Some("3"));
        check("-apx3", "producers", Some("3"));
        check("-e -u q", "exchange", None);
        check("-e '' -u q", "exchange", Some(""));
        assert!(read("-e -u q").unwrap().has("exchange"));
        let arguments = read("-f persistent mandatory -p true -qa a=1 b=2 -y 2").unwrap();
        assert!(
            arguments.flag("persistent")
                && arguments.flag("mandatory")
                && arguments.has("predeclared")
        );
        assert_eq!(arguments.all("queue-args"), ["a=1", "b=2"]);
        assert_eq!(arguments.ignored(), ["true"]);
        assert_eq!(read("-c -1").unwrap().number("confirm").unwrap(), Some(-1));
        let wrong = ["-x", "-u -x 1", "--queue- 1", "--nonsense 1", "sing", "--autoack=5", "-!"];
        let misspelt =
            ["-x 4 --autoak", "-r 100 --confrim 10", "-a=5", "-ax", "--=4", "-z 5 --tmie=5"];
        for wrong in wrong.into_iter().chain(misspelt) {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
