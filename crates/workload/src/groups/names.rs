//! Names of which a part is a number.

use rabbitscope_runs::scenario::NumberRange;

/// A part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Digits(&'a str),
}

/// A set of names in its shortest form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Names {
    /// One name.
    One(String),
    /// A name with a placeholder, and the numbers for it.
    Numbered { pattern: String, from: u32, to: u32 },
    /// Several names.
    Listed(Vec<String>),
}

/// Shortest run of hexadecimal digits that is taken for an identifier.
const HEX_MIN: usize = 8;

/// Returns the name with `{}` in place of numbers and identifiers. Words between them stay.
pub(crate) fn pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let length =
            uuid_at(rest).unwrap_or_else(|| rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        let (word, later) = rest.split_at(length.max(first.len_utf8()));
        if is_identifier(word) || is_uuid(word) {
            pattern.push_str("{}");
        } else {
            without_digits(word, &mut pattern);
        }
        rest = later;
    }
    pattern
}

/// The form of a UUID.
const UUID: &str = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/// Returns the length of the UUID with which a text begins; none without one.
pub(crate) fn uuid_at(text: &str) -> Option<usize> {
    let (start, _) = text.split_at_checked(UUID.len())?;
    is_uuid(start).then_some(UUID.len())
}

fn is_uuid(word: &str) -> bool {
    let fits = |(c, form): (char, char)| match form {
        'x' => c.is_ascii_hexdigit(),
        form => c == form,
    };
    word.len() == UUID.len() && word.chars().zip(UUID.chars()).all(fits)
}

/// Returns whether a word is a long number in hexadecimal digits.
pub(crate) fn is_identifier(word: &str) -> bool {
    word.len() >= HEX_MIN
        && word.chars().all(|c| c.is_ascii_hexdigit())
        && word.chars().any(|c| c.is_ascii_digit())
}

fn without_digits(word: &str, pattern: &mut String) {
    for part in parts(word) {
        match part {
            Part::Text(text) => pattern.push_str(text),
            Part::Digits(_) => pattern.push_str("{}"),
        }
    }
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let length = rest.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(rest.len());
        let (part, later) = rest.split_at(length);
        parts.push(if is_digit { Part::Digits(part) } else { Part::Text(part) });
        rest = later;
    }
    parts
}

impl Names {
    /// Returns the number of names.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::One(_) => 1,
            Self::Numbered { from, to, .. } => u64::from(to - from) + 1,
            Self::Listed(names) => names.len() as u64,
        }
    }

    /// Creates the form of some names, which must not be empty.
    pub(crate) fn new(mut names: Vec<String>) -> Self {
        names.sort();
        names.dedup();
        if names.len() == 1 {
            return Self::One(names.remove(0));
        }
        numbered(&names).unwrap_or(Self::Listed(names))
    }

    /// Returns all names.
    pub(crate) fn all(&self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name.clone()],
            Self::Numbered { pattern, from, to } => {
                NumberRange::new(Some(*from), *to).names(pattern).collect()
            }
            Self::Listed(names) => names.clone(),
        }
    }
}

/// Returns the form with a placeholder, if the names differ in one number only and have all numbers between two.
fn numbered(names: &[String]) -> Option<Names> {
    let all: Vec<Vec<Part<'_>>> = names.iter().map(|name| parts(name)).collect();
    let first = all.first()?;
    if all.iter().any(|parts| parts.len() != first.len()) {
        return None;
    }
    let differs = |place: &usize| all.iter().any(|parts| parts[*place] != first[*place]);
    let places: Vec<usize> = (0..first.len()).filter(differs).collect();
    let [place] = places[..] else { return None };
    let digits: Option<Vec<&str>> = all
        .iter()
        .map(|parts| match parts[place] {
            Part::Digits(digits) => Some(digits),
            Part::Text(_) => None,
        })
        .collect();
    let digits = digits?;
    let numbers: Option<Vec<u32>> = digits.iter().map(|digits| digits.parse().ok()).collect();
    let numbers = numbers?;
    let (from, to) = (*numbers.iter().min()?, *numbers.iter().max()?);
    if (to - from) as usize + 1 != names.len() {
        return None;
    }
    let width = digits.iter().map(|digits| digits.len()).min()?;
    let is_padded = digits.iter().any(|digits| digits.len() > 1 && digits.starts_with('0'));
    let placeholder = if is_padded { format!("{{:0{width}}}") } else { "{}".to_owned() };
    let is_right = |(digits, number): (&&str, &u32)| {
        let written = if is_padded { format!("{number:0width$}") } else { number.to_string() };
        **digits == written
    };
    if !digits.iter().zip(&numbers).all(is_right) {
        return None;
    }
    let text = |(at, part): (usize, &Part<'_>)| match part {
        _ if at == place => placeholder.clone(),
        Part::Text(text) | Part::Digits(text) => (*text).to_owned(),
    };
    let pattern = first.iter().enumerate().map(text).collect();
    Some(Names::Numbered { pattern, from, to })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_identifiers_become_placeholders() {
        fn check(name: &str, expected: &str) {
            assert_eq!(pattern(name), expected);
        }
        check("orders.eu.17", "orders.eu.{}");
        check("q12-a3", "q{}-a{}");
        check("amq.gen-JzTY20BRgKO", "amq.gen-JzTY{}BRgKO");
        check("task.4f0c22aa91", "task.{}");
        check("deadbeef", "deadbeef");
        check("7b2d1f3a-91aa-4bcd-8e2f-0123456789ab", "{}");
        check("job-7b2d1f3a-91aa-4bcd-8e2f-0123456789ab.x", "job-{}.x");
        check("ä.1", "ä.{}");
        check("", "");
    }

    #[test]
    fn names_take_their_shortest_form() {
        fn check(names: &[&str], expected: &Names) {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(&Names::new(names), expected);
        }
        let numbered =
            |pattern: &str, from, to| Names::Numbered { pattern: pattern.to_owned(), from, to };
        check(&["q-3", "q-1", "q-2"], &numbered("q-{}", 1, 3));
        check(&["q-09", "q-10", "q-11"], &numbered("q-{:02}", 9, 11));
        check(&["a1.x", "a2.x"], &numbered("a{}.x", 1, 2));
        check(&["q"], &Names::One("q".to_owned()));
        let listed =
            |names: &[&str]| Names::Listed(names.iter().map(|&name| name.into()).collect());
        check(&["q-1", "q-3"], &listed(&["q-1", "q-3"]));
        check(&["a1.x1", "a2.x2"], &listed(&["a1.x1", "a2.x2"]));
        check(&["a", "b"], &listed(&["a", "b"]));
        check(&["q-1", "q-02"], &listed(&["q-02", "q-1"]));
    }
}
