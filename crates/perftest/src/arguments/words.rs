//! Parser of words as options and values, by the rules that picocli (Stream PerfTest) and pflag (omq) share: names are
//! whole, and a value follows its option. `parser.rs` has PerfTest's rules.

use super::{
    command_line::Arguments,
    options::{ProgramOption, Values},
};
use crate::PerfTestError;

/// The differences between the libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// An option of one value may be given once, and short names have several letters.
    Picocli,
    /// The last value of an option counts. Short names are letters, and values may be joined by `=`.
    Pflag,
}

/// Parses the words after the program's name.
pub(super) fn parse(
    words: &[String],
    style: Style,
    arguments: &mut Arguments,
) -> Result<(), PerfTestError> {
    let mut rest = words.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        let Some((option, joined)) = option(word, style, arguments)? else {
            arguments.ignore(word);
            continue;
        };
        let takes = |next: &str| match option.2 {
            Values::None => false,
            Values::One | Values::Many => {
                style == Style::Pflag || !is_known(next, style, arguments)
            }
            // A switch of pflag has its value behind `=` only.
            Values::Optional => style == Style::Picocli && !next.starts_with('-'),
        };
        let value = match joined {
            Some(value) => Some(value),
            None => rest.next_if(|next| takes(next)),
        };
        set(option, value, style, arguments)?;
    }
    Ok(())
}

/// Returns the option that a word names, and the value that is joined to it; `None` for a word that is no option.
fn option<'w>(
    word: &'w str,
    style: Style,
    arguments: &Arguments,
) -> Result<Option<(&'static ProgramOption, Option<&'w str>)>, PerfTestError> {
    if !word.starts_with('-') || word.len() == 1 || word.parse::<f64>().is_ok() {
        return Ok(None);
    }
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if let Some(option) = by_name(name, style, arguments) {
        return Ok(Some((option, value)));
    }
    // A letter and its value: `-x3`.
    let mut letters = word.char_indices().skip(2);
    if let (false, Some((at, _))) = (word.starts_with("--"), letters.next())
        && let Some(option) = by_name(&word[..at], style, arguments)
        && option.2 != Values::None
    {
        return Ok(Some((option, Some(&word[at..]))));
    }
    let program = arguments.program;
    // The part after `=` may be a secret.
    let reason = format!("{} has no option `{name}`", program.name());
    Err(PerfTestError::CommandLine(reason))
}

fn is_known(word: &str, style: Style, arguments: &Arguments) -> bool {
    by_name(word, style, arguments).is_some()
}

fn by_name(name: &str, style: Style, arguments: &Arguments) -> Option<&'static ProgramOption> {
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').filter(|short| !short.is_empty() && long.is_none());
    let short = short.filter(|short| style == Style::Picocli || short.chars().count() == 1);
    let mut all = arguments.options.iter().flat_map(|table| table.iter());
    all.find(|(letters, words, ..)| long == Some(*words) || short == Some(*letters))
}

fn set(
    option: &'static ProgramOption,
    value: Option<&str>,
    style: Style,
    arguments: &mut Arguments,
) -> Result<(), PerfTestError> {
    let (_, name, values, _) = option;
    let refuse = |reason: &str| Err(PerfTestError::CommandLine(format!("--{name} {reason}")));
    match (values, value) {
        (Values::None, None) => arguments.replace(name, Some(Vec::new())),
        (Values::None, Some("true")) if style == Style::Pflag => {
            arguments.replace(name, Some(Vec::new()));
        }
        (Values::None, Some("false")) if style == Style::Pflag => arguments.replace(name, None),
        (Values::None, Some(_)) => return refuse("takes no value"),
        (Values::Optional, value) => {
            arguments.replace(name, Some(vec![value.unwrap_or("true").to_owned()]));
        }
        (Values::One | Values::Many, None) => {
            return refuse(&format!("needs a value, as in `--{name} VALUE`"));
        }
        (Values::One, Some(_)) if style == Style::Picocli && arguments.has(name) => {
            return refuse("may be given once only");
        }
        (Values::One, Some(value)) => arguments.replace(name, Some(vec![value.to_owned()])),
        (Values::Many, Some(value)) => arguments.push(name, value),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, arguments::Support};

    const OPTIONS: &[ProgramOption] = &[
        ("x", "producers", Values::One, Support::Supported),
        ("sc", "stream-count", Values::One, Support::Supported),
        ("sst", "super-streams", Values::Optional, Support::Supported),
        ("", "queue-args", Values::Many, Support::Supported),
        ("m", "use-millis", Values::None, Support::Supported),
    ];

    fn read(style: Style, line: &str) -> Result<Arguments, String> {
        let mut arguments = Arguments::new(Program::Omq, &[OPTIONS]);
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words, style, &mut arguments).map_err(|error| error.to_string())?;
        Ok(arguments)
    }

    #[track_caller]
    fn check(style: Style, line: &str, option: &str, expected: Option<&[&str]>) {
        let arguments = read(style, line).unwrap();
        let found = arguments.has(option).then(|| arguments.all(option));
        assert_eq!(
            found,
            expected
                .map(|all| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>())
                .as_deref()
        );
    }

    #[test]
    fn values_follow_their_options_or_are_joined() {
        for line in ["-x 3", "-x3", "-x=3", "--producers 3", "--producers=3", "-x 5 -x 3"] {
            check(Style::Pflag, line, "producers", Some(&["3"]));
        }
        check(Style::Pflag, "-x -1", "producers", Some(&["-1"]));
        check(
            Style::Pflag,
            "--queue-args a=1,b=2 --queue-args c=3",
            "queue-args",
            Some(&["a=1,b=2", "c=3"]),
        );
        check(Style::Pflag, "-m word", "use-millis", Some(&[]));
        check(Style::Pflag, "--use-millis=false", "use-millis", None);
        check(Style::Picocli, "-sc 1-10 -x 2", "stream-count", Some(&["1-10"]));
        check(Style::Picocli, "-sst -x 2", "super-streams", Some(&["true"]));
        check(Style::Picocli, "--super-streams false", "super-streams", Some(&["false"]));
        assert_eq!(read(Style::Picocli, "stream -x 1").unwrap().ignored(), ["stream"]);
    }

    #[test]
    fn what_the_libraries_refuse_is_refused() {
        let refused = |style: Style, line: &str, part: &str| {
            let error = read(style, line).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        };
        refused(Style::Picocli, "--produsers=secret 3", "no option `--produsers`");
        refused(Style::Picocli, "-x -sc 3", "--producers needs a value");
        refused(Style::Picocli, "-x 1 -x 2", "once only");
        refused(Style::Pflag, "-sc 3", "no option `-sc`");
        refused(Style::Pflag, "-m=5", "takes no value");
        refused(Style::Pflag, "-x", "needs a value");
    }
}
