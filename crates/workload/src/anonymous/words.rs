//! Names word by word.

use std::collections::{BTreeMap, BTreeSet};

use crate::groups::{is_identifier, uuid_at};

/// Beginning of the names that the broker chooses.
const SERVER_NAMED: &str = "amq.gen-";

/// New words and numbers. All names are counted first, because the order of the new numbers is that of the old ones.
#[derive(Debug, Default)]
pub(super) struct Words {
    renamed: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// Known words of each length, in bytes.
    of_length: BTreeMap<usize, usize>,
    identifiers: BTreeMap<String, usize>,
    numbers: BTreeSet<u64>,
    /// Lengths of numbers with leading zeros.
    padded: BTreeSet<usize>,
}

/// A part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'a> {
    /// Letters.
    Word(&'a str),
    Number(&'a str),
    /// Hexadecimal digits, or a UUID.
    Identifier(&'a str),
    /// Everything between: dots, dashes, wildcards.
    Other(&'a str),
}

impl Words {
    /// Counts a name.
    pub(super) fn count(&mut self, name: &str) {
        for part in parts(name) {
            match part {
                Part::Word(word) => drop(self.word(word)),
                Part::Identifier(word) => drop(self.identifier(word)),
                Part::Number(digits) => {
                    self.numbers.extend(digits.parse::<u64>());
                    if digits.len() > 1 && digits.starts_with('0') {
                        self.padded.insert(digits.len());
                    }
                }
                Part::Other(_) => {}
            }
        }
    }

    /// Returns the new form of a counted name.
    pub(super) fn renamed(&mut self, name: &str) -> String {
        let mut renamed = String::with_capacity(name.len());
        for part in parts(name) {
            match part {
                Part::Word(word) => renamed.push_str(&self.word(word)),
                Part::Identifier(word) => renamed.push_str(&self.identifier(word)),
                Part::Number(digits) => renamed.push_str(&self.number(digits)),
                Part::Other(text) => renamed.push_str(text),
            }
        }
        renamed
    }

    /// Returns the new word, of the same length if one is left.
    fn word(&mut self, word: &str) -> String {
        if let Some(known) = self.renamed.get(word) {
            return known.clone();
        }
        let number = self.of_length.entry(word.len()).or_default();
        let new = loop {
            let new = letters(*number, word.len());
            *number += 1;
            if self.taken.insert(new.clone()) {
                break new;
            }
        };
        self.renamed.insert(word.to_owned(), new.clone());
        new
    }

    fn identifier(&mut self, word: &str) -> String {
        let next = self.identifiers.len() + 1;
        let number = *self.identifiers.entry(word.to_owned()).or_insert(next);
        if word.contains('-') {
            return format!("00000000-0000-0000-0000-{number:012x}");
        }
        format!("{number:0width$x}", width = word.len())
    }

    /// Returns the new number. Numbers without a gap stay without one.
    fn number(&self, digits: &str) -> String {
        let Ok(number) = digits.parse::<u64>() else { return "0".repeat(digits.len()) };
        let first = usize::from(!self.numbers.contains(&0));
        let rank = self.numbers.range(..number).count() + first;
        let width = if self.padded.contains(&digits.len()) { digits.len() } else { 1 };
        format!("{rank:0width$}")
    }
}

/// Returns a number in letters of the given count: `a` is 0.
fn letters(mut number: usize, width: usize) -> String {
    let mut letters = Vec::new();
    while number > 0 || letters.len() < width {
        letters.push(char::from(b"abcdefghijklmnopqrstuvwxyz"[number % 26]));
        number /= 26;
    }
    letters.into_iter().rev().collect()
}

/// Returns the parts of a name. Names that every broker has are one part that stays.
fn parts(name: &str) -> Vec<Part<'_>> {
    if is_of_broker(name) {
        return vec![Part::Other(name)];
    }
    if let Some(rest) = name.strip_prefix(SERVER_NAMED) {
        let chosen = (!rest.is_empty()).then_some(Part::Word(rest));
        return [Part::Other(SERVER_NAMED)].into_iter().chain(chosen).collect();
    }
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let kind = |c: char| (c.is_alphanumeric(), c.is_ascii_digit());
        let word_end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..word_end];
        let (part, length) = if let Some(length) = uuid_at(rest) {
            (Part::Identifier(&rest[..length]), length)
        } else if is_identifier(word) && !word.chars().all(|c| c.is_ascii_digit()) {
            (Part::Identifier(word), word_end)
        } else {
            let end = rest.find(|c: char| kind(c) != kind(first)).unwrap_or(rest.len());
            let text = &rest[..end];
            let part = match kind(first) {
                (true, true) => Part::Number(text),
                (true, false) => Part::Word(text),
                _ => Part::Other(text),
            };
            (part, end)
        };
        parts.push(part);
        rest = &rest[length..];
    }
    parts
}

fn is_of_broker(name: &str) -> bool {
    let own = ["amq.direct", "amq.fanout", "amq.headers", "amq.match", "amq.topic"];
    own.contains(&name) || name.starts_with("amq.rabbitmq.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(names: &[&str], expected: &[&str]) {
        let mut words = Words::default();
        for name in names {
            words.count(name);
        }
        let renamed: Vec<String> = names.iter().map(|name| words.renamed(name)).collect();
        assert_eq!(renamed, expected);
    }

    #[test]
    fn words_keep_their_length_and_are_everywhere_the_same() {
        check(&["orders.eu", "orders.us", "eu"], &["aaaaaa.aa", "aaaaaa.ab", "aa"]);
        check(&["*.eu.#", "", "-.-"], &["*.aa.#", "", "-.-"]);
        check(&["Gebühr", "ä"], &["aaaaaaa", "aa"]);
    }

    #[test]
    fn numbers_keep_their_order_and_gaps_only_shrink() {
        check(&["q-41", "q-42", "q-43"], &["a-1", "a-2", "a-3"]);
        check(&["q0", "q7", "q9"], &["a0", "a1", "a2"]);
        check(&["q-08", "q-09", "q-10"], &["a-01", "a-02", "a-03"]);
        check(&["q99999999999999999999999"], &["a00000000000000000000000"]);
    }

    #[test]
    fn identifiers_stay_identifiers() {
        let uuid = "7b2d1f3a-91aa-4bcd-8e2f-0123456789ab";
        let new = "00000000-0000-0000-0000-000000000001";
        check(&[&format!("job-{uuid}.x")], &[&format!("aaa-{new}.a")]);
        check(&["task.4f0c22aa91"], &["aaaa.0000000001"]);
    }

    #[test]
    fn names_of_the_broker_stay() {
        check(&["amq.topic", "amq.rabbitmq.reply-to"], &["amq.topic", "amq.rabbitmq.reply-to"]);
        check(&["amq.gen-JzTY20BRg", "amq.gen-"], &["amq.gen-aaaaaaaaa", "amq.gen-"]);
    }

    #[test]
    fn more_words_than_letters_stay_different() {
        let names: Vec<String> = ('a'..='z').chain('A'..='Z').map(String::from).collect();
        let mut words = Words::default();
        let renamed: BTreeSet<String> = names.iter().map(|name| words.renamed(name)).collect();
        assert_eq!(renamed.len(), 52);
    }
}
