//! The reading of a PerfTest command line.

use std::{collections::BTreeMap, str::FromStr};

use super::{
    options::{Fate, OPTIONS},
    wrong,
};
use crate::exit::UsageError;

/// What was typed.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Values by long name; empty for options without one.
    values: BTreeMap<&'static str, Vec<String>>,
}

impl Given {
    pub(super) fn has(&self, option: &str) -> bool {
        self.values.contains_key(option)
    }

    /// The value, the last one when there are several.
    pub(super) fn text(&self, option: &str) -> Option<&str> {
        self.all(option).last().map(String::as_str)
    }

    pub(super) fn all(&self, option: &str) -> &[String] {
        self.values.get(option).map_or(&[], Vec::as_slice)
    }

    /// A number.
    pub(super) fn number<N: FromStr>(&self, option: &str) -> Result<Option<N>, UsageError> {
        let Some(text) = self.text(option) else { return Ok(None) };
        text.parse().map_or_else(|_| wrong(option, text, "a number that fits"), |it| Ok(Some(it)))
    }

    /// A number of which 0 and less mean that there is no limit.
    pub(super) fn limit(&self, option: &str) -> Result<Option<i64>, UsageError> {
        Ok(self.number(option)?.filter(|number| *number > 0))
    }

    /// `true` or `false`.
    pub(super) fn switch(&self, option: &str, default: bool) -> bool {
        self.text(option).map_or(default, |text| text.eq_ignore_ascii_case("true"))
    }

    /// Options that were given and have no equivalent, with the reason.
    pub(super) fn without_equivalent(&self) -> impl Iterator<Item = (&str, &str)> {
        OPTIONS.iter().filter_map(|(_, long, _, fate)| match fate {
            Fate::Nothing(reason) if self.has(long) => Some((*long, *reason)),
            _ => None,
        })
    }
}

/// Reads a command line. What comes before the first option (`java -jar perf-test.jar`,
/// `docker run … pivotalrabbitmq/perf-test`) is the program's name.
pub(super) fn read(command_line: &str) -> Result<Given, UsageError> {
    let words = words(command_line)?;
    let mut words = words.into_iter().skip(program(command_line)?);
    let mut given = Given::default();
    while let Some(word) = words.next() {
        let (option, takes_value, attached) = option(&word)?;
        let values = given.values.entry(option).or_default();
        match (takes_value, attached) {
            (false, None) => {}
            (false, Some(value)) => return wrong(option, &value, "allowed: it takes no value"),
            (true, Some(value)) => values.push(value),
            (true, None) => match words.next() {
                Some(value) => values.push(value),
                None => return Err(UsageError(format!("--{option} needs a value"))),
            },
        }
    }
    Ok(given)
}

/// How many words the program's name takes.
fn program(command_line: &str) -> Result<usize, UsageError> {
    let words = words(command_line)?;
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
        return Err(UsageError(format!("--from-perftest: `{}` {reason}", words[0])));
    };
    // `runjava com.rabbitmq.perf.PerfTest`
    Ok(words.get(at + 1).filter(|word| is_name(word)).map_or(at + 1, |_| at + 2))
}

/// Long name of the option, whether it takes a value, and a value that hangs on to it.
fn option(word: &str) -> Result<(&'static str, bool, Option<String>), UsageError> {
    let Some(name) = word.strip_prefix("--").or(word.strip_prefix('-')) else {
        return Err(UsageError(format!("--from-perftest: `{word}` is no option")));
    };
    let (name, attached) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (name, None),
    };
    let known = OPTIONS.iter().find(|(short, long, ..)| name == *long || name == *short);
    if let Some((_, long, takes_value, _)) = known.filter(|_| !name.is_empty()) {
        return Ok((long, *takes_value, attached));
    }
    // `-x1`
    let glued = OPTIONS.iter().find(|(short, _, takes_value, _)| {
        *takes_value && short.len() == 1 && name.starts_with(short) && !word.starts_with("--")
    });
    match glued {
        Some((_, long, ..)) => Ok((long, true, Some(word[2..].to_owned()))),
        None => Err(UsageError(format!("PerfTest 2.22.1 has no option `{word}`"))),
    }
}

/// Words as a shell separates them, without its substitutions.
fn words(text: &str) -> Result<Vec<String>, UsageError> {
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
        return Err(UsageError(format!("--from-perftest: a quote ({quote}) is not closed")));
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
            let given = read(text).unwrap();
            assert_eq!(given.text(option), expected, "{text}");
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
        for wrong in ["-x", "--nonsense 1", "-x 1 word", "sing", "--autoack=5"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
