//! Every option, misspelt by one letter, in every position of a command line.

use crate::arguments::{
    options::{ProgramOption, Values, all},
    parser,
};

/// Words before an option, and whether the last of them still takes a value.
const BEFORE: [(&[&str], bool); 9] = [
    (&[], false),
    (&["-x", "4"], false),
    (&["-r=100"], false),
    (&["-a"], false),
    (&["--queue", "q", "word"], false),
    (&["-apx4"], false),
    (&["-e"], true),
    (&["-x"], true),
    (&["-f", "persistent"], true),
];

/// Returns all words that differ from a name by one letter: omitted, doubled, swapped with the next, or replaced.
pub(super) fn misspelt(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut found = Vec::new();
    for index in 0..letters.len() {
        let with = |part: &[char]| {
            let (head, tail) = (&letters[..index], &letters[index..]);
            let kept = tail.iter().skip(part.len().clamp(1, 2));
            head.iter().chain(part).chain(kept).collect::<String>()
        };
        let other = if letters[index] == 'j' { 'w' } else { 'j' };
        let (left_out, other) = (with(&[]), with(&[other]));
        let mut doubled = letters.clone();
        doubled.insert(index, letters[index]);
        found.extend([left_out, other, doubled.iter().collect()]);
        found.extend(letters.get(index + 1).map(|next| with(&[*next, letters[index]])));
    }
    found.retain(|word| word != name && !word.is_empty());
    found
}

/// Returns all correct and misspelt options, with one dash and with two.
pub(super) fn words() -> Vec<String> {
    let names = all().flat_map(|(short, long, ..)| [*short, *long]).filter(|name| !name.is_empty());
    let words = names.flat_map(|name| misspelt(name).into_iter().chain([name.to_owned()]));
    words.flat_map(|word| [format!("-{word}"), format!("--{word}")]).collect()
}

/// Returns the option of this name, or those whose long names begin with it.
fn by(name: &str) -> Vec<&'static ProgramOption> {
    match all().find(|(_, long, ..)| *long == name) {
        Some(option) => vec![option],
        None => all().filter(|(_, long, ..)| long.starts_with(name)).collect(),
    }
}

/// Checks PerfTest's rule for words with two dashes, in a formulation other than the parser's.
#[test]
fn a_misspelt_long_option_is_refused() {
    let mut refused = 0;
    for (before, takes_value) in BEFORE {
        for word in words().iter().filter(|word| word.starts_with("--")) {
            let name = &word[2..];
            let options = by(name);
            let is_short = all().any(|(short, ..)| name == *short);
            let is_value = takes_value && options.is_empty() && !is_short;
            let is_open = takes_value && before == ["-x"];
            let expected = is_value || options.len() == 1 && !is_open;
            let value = options.first().filter(|_| !is_value).map(|option| option.2);
            let more = if matches!(value, Some(Values::One | Values::Many)) { "5" } else { "-p" };
            let line: Vec<String> =
                before.iter().copied().chain([word, more]).map(str::to_owned).collect();
            let read = parser::parse(&line);
            assert_eq!(read.is_ok(), expected, "{line:?}: {read:?}");
            refused += usize::from(!expected);
            let with_value = format!("{word}=5");
            let line: Vec<String> =
                before.iter().copied().chain([with_value.as_str()]).map(str::to_owned).collect();
            let accepts = options.len() == 1 && options[0].2 != Values::None && !is_open;
            assert_eq!(parser::parse(&line).is_ok(), is_value || accepts, "{line:?}");
        }
    }
    assert!(refused > 10_000, "{refused} were refused");
}
