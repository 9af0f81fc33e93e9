//! Parses a PerfTest command line as PerfTest's library, commons-cli, does.

use std::{collections::BTreeMap, iter::Peekable, str::FromStr};

use super::options::{PerfTestOption, Support, Values, all};
use crate::{PerfTestError, error::invalid_value};

/// The options of a command line with their values.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Values by long name; empty for options without one.
    values: BTreeMap<&'static str, Vec<String>>,
    /// Words that belong to no option; PerfTest ignores them.
    ignored: Vec<String>,
}

impl Arguments {
    pub(super) fn has(&self, option: &str) -> bool {
        self.values.contains_key(option)
    }

    /// The value, the first one when there are several.
    pub(super) fn text(&self, option: &str) -> Option<&str> {
        self.all(option).first().map(String::as_str)
    }

    pub(super) fn all(&self, option: &str) -> &[String] {
        self.values.get(option).map_or(&[], Vec::as_slice)
    }

    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// A number.
    pub(super) fn number<N: FromStr>(&self, option: &str) -> Result<Option<N>, PerfTestError> {
        let Some(text) = self.text(option) else { return Ok(None) };
        text.parse()
            .map_or_else(|_| invalid_value(option, text, "a number that fits"), |it| Ok(Some(it)))
    }

    /// A count; numbers below 0 count as 0, and the default is 1.
    pub(super) fn count(&self, option: &str) -> Result<i64, PerfTestError> {
        Ok(self.number::<i64>(option)?.unwrap_or(1).max(0))
    }

    /// A limit; numbers of 0 and less mean that there is none.
    pub(super) fn limit(&self, option: &str) -> Result<Option<i64>, PerfTestError> {
        Ok(self.number(option)?.filter(|number| *number > 0))
    }

    /// `true` or anything else, which is false.
    pub(super) fn switch(&self, option: &str, default: bool) -> bool {
        self.text(option).map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// Whether `--flag` has exactly this value; PerfTest splits no lists here.
    pub(super) fn flag(&self, flag: &str) -> bool {
        self.all("flag").iter().any(|value| value == flag)
    }

    /// Options of the command line that have no equivalent in a scenario, with the reason.
    pub(super) fn without_equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        all().filter_map(|(_, long, _, support)| match support {
            Support::Unsupported(reason) if self.has(long) => Some((*long, *reason)),
            _ => None,
        })
    }
}

/// Parses a command line. Words before the first option (`java -jar perf-test.jar`,
/// `docker run … pivotalrabbitmq/perf-test`) are the program's name.
pub(super) fn read(command_line: &str) -> Result<Arguments, PerfTestError> {
    let words = words(command_line)?;
    let program = program(&words)?;
    let mut words = words.into_iter().skip(program).peekable();
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            arguments.ignored.push(word);
            continue;
        }
        for (option, attached) in options_of(&word)? {
            take(option, attached, &mut words, &mut arguments)?;
        }
    }
    Ok(arguments)
}

/// Takes an option with its values, which are attached to it or follow it.
fn take(
    (_, long, expected, _): &'static PerfTestOption,
    attached: Option<String>,
    words: &mut Peekable<impl Iterator<Item = String>>,
    arguments: &mut Arguments,
) -> Result<(), PerfTestError> {
    let values = arguments.values.entry(long).or_default();
    let mut next = || words.next_if(|word| !is_option(word));
    match (expected, attached) {
        (Values::None, None) => {}
        (Values::None, Some(value)) => {
            return invalid_value(long, &value, "allowed: it takes no value");
        }
        (_, Some(value)) => values.push(value),
        (Values::Optional, None) => values.extend(next()),
        (Values::One | Values::Many, None) => {
            let missing = || PerfTestError::CommandLine(format!("--{long} needs a value"));
            values.push(next().ok_or_else(missing)?);
            while let (Values::Many, Some(value)) = (expected, next()) {
                values.push(value);
            }
        }
    }
    Ok(())
}

/// Whether a word is an option, and so no value. Negative numbers are values.
fn is_option(word: &str) -> bool {
    word.starts_with('-') && word != "-" && word.parse::<f64>().is_err() && options_of(word).is_ok()
}

/// Number of words of the program's name.
fn program(words: &[String]) -> Result<usize, PerfTestError> {
    if words.first().is_none_or(|word| word.starts_with('-')) {
        return Ok(0);
    }
    let is_name = |word: &String| {
        let name = word.rsplit('/').next().unwrap_or(word);
        word.ends_with("PerfTest") || name.starts_with("perf-test") || name == "runjava"
    };
    let named = words.iter().take_while(|word| !word.starts_with("--id")).position(is_name);
    let Some(at) = named else {
        let reason = "begins with no option, and `perf-test` or `PerfTest` is not there either";
        return Err(PerfTestError::CommandLine(format!(
            "--from-perftest: `{}` {reason}",
            words[0]
        )));
    };
    // `runjava com.rabbitmq.perf.PerfTest`
    Ok(words.get(at + 1).filter(|word| is_name(word)).map_or(at + 1, |_| at + 2))
}

type Attached = (&'static PerfTestOption, Option<String>);

/// The options of a word, with a value that is attached to the last.
fn options_of(word: &str) -> Result<Vec<Attached>, PerfTestError> {
    let is_long = word.starts_with("--");
    let name = word.trim_start_matches('-');
    let (name, attached) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (name, None),
    };
    if let Some(option) = by_name(name, word)? {
        return Ok(vec![(option, attached)]);
    }
    let unknown = || PerfTestError::CommandLine(format!("PerfTest 2.22.1 has no option `{word}`"));
    if is_long { Err(unknown()) } else { joined(&word[1..]).ok_or_else(unknown) }
}

/// The option with this short or long name, or with a long name that alone begins like this.
fn by_name(name: &str, word: &str) -> Result<Option<&'static PerfTestOption>, PerfTestError> {
    if name.is_empty() {
        return Ok(None);
    }
    if let Some(exact) = all().find(|(short, long, ..)| name == *long || name == *short) {
        return Ok(Some(exact));
    }
    let mut begun = all().filter(|(_, long, ..)| name.len() > 1 && long.starts_with(name));
    match (begun.next(), begun.next()) {
        (Some((_, first, ..)), Some((_, second, ..))) => {
            let reason = format!("`{word}` may be --{first} or --{second}: write more of it");
            Err(PerfTestError::CommandLine(format!("--from-perftest: {reason}")))
        }
        (option, _) => Ok(option),
    }
}

/// `-ap`: options of one letter in a row; `-x1`: with a value.
fn joined(letters: &str) -> Option<Vec<Attached>> {
    let mut options = Vec::new();
    for (at, letter) in letters.char_indices() {
        let mut short = [0; 4];
        let short: &str = letter.encode_utf8(&mut short);
        let option = all().find(|(name, ..)| *name == short)?;
        let rest = &letters[at + short.len()..];
        if option.2 != Values::None && !rest.is_empty() {
            options.push((option, Some(rest.to_owned())));
            return Some(options);
        }
        options.push((option, None));
    }
    Some(options).filter(|options| !options.is_empty())
}

/// Words as a shell separates them, without its substitutions.
fn words(text: &str) -> Result<Vec<String>, PerfTestError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (_, '\\') => match letters.next() {
                Some('\n') | None => {}
                Some(escaped) => word.get_or_insert_default().push(escaped),
            },
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    if let Some(quote) = quote {
        return Err(PerfTestError::CommandLine(format!(
            "--from-perftest: a quote ({quote}) is not closed"
        )));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        fn check(text: &str, expected: &[&str]) {
            assert_eq!(words(text).unwrap(), expected);
        }
        check("  a  b ", &["a", "b"]);
        check("-u 'a b' \"c \\\" d\"e", &["-u", "a b", "c \" de"]);
        check("a\\ b '' \\\n c", &["a b", "", "c"]);
        assert!(words("'open").is_err());
    }

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
        for wrong in ["-x", "-u -x 1", "--queue- 1", "--nonsense 1", "sing", "--autoack=5", "-!"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
