//! Published facts about an experiment, in a form that measured intervals can meet or miss.

use std::fmt;

use serde::Deserialize;

/// A line of `known.expect`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum KnownExpectation {
    /// `patched / stock > 1.1`: the ratio of two arms in the primary metric.
    Ratio {
        /// Name of the arm above the line.
        arm: String,
        /// Name of the arm below.
        against: String,
        /// The bound.
        bound: f64,
        /// The ratio is above the bound; otherwise below it.
        is_above: bool,
    },
    /// `auto-ack > multi-ack > single-ack`: arms by falling value of the primary metric.
    Order(Vec<String>),
    /// `patched: rabbit_exchange:route/2 falls`: a function's share of the profile, against the baseline.
    Share {
        /// Name of the arm.
        arm: String,
        /// Name of the function.
        function: String,
        /// The share falls; otherwise it rises.
        falls: bool,
    },
}

impl KnownExpectation {
    /// Parses the text; names of arms are not checked.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refusal = || {
            format!(
                "`{text}` is not a valid expectation: write `ARM / ARM > 1.1`, `ARM / ARM < 1`, `ARM > ARM > ARM` or \
                 `ARM: MODULE:FUNCTION/ARITY falls` (or `rises`)"
            )
        };
        if let Some((arm, rest)) = text.split_once(": ") {
            let (function, way) = rest.trim().rsplit_once(' ').ok_or_else(refusal)?;
            let falls = match way {
                "falls" => true,
                "rises" => false,
                _ => return Err(refusal()),
            };
            let (arm, function) = (arm.trim().to_owned(), function.trim().to_owned());
            return if arm.is_empty() || function.is_empty() {
                Err(refusal())
            } else {
                Ok(Self::Share { arm, function, falls })
            };
        }
        let names = |text: &str, at: &str| -> Option<Vec<String>> {
            let names: Vec<String> = text.split(at).map(|name| name.trim().to_owned()).collect();
            (names.len() > 1 && names.iter().all(|name| !name.is_empty())).then_some(names)
        };
        let Some((ratio, _)) = text.split_once(" / ") else {
            return names(text, ">").map(Self::Order).ok_or_else(refusal);
        };
        let rest = &text[ratio.len() + 3..];
        let at = rest.rfind(['>', '<']).ok_or_else(refusal)?;
        let bound = rest[at + 1..].trim().parse::<f64>().ok().filter(|bound| *bound > 0.0);
        let (arm, against) = (ratio.trim().to_owned(), rest[..at].trim().to_owned());
        if arm.is_empty() || against.is_empty() {
            return Err(refusal());
        }
        let is_above = rest.as_bytes()[at] == b'>';
        Ok(Self::Ratio { arm, against, bound: bound.ok_or_else(refusal)?, is_above })
    }

    /// Returns the arms that the expectation names.
    pub fn arms(&self) -> Vec<&str> {
        match self {
            Self::Ratio { arm, against, .. } => vec![arm, against],
            Self::Order(arms) => arms.iter().map(String::as_str).collect(),
            Self::Share { arm, .. } => vec![arm],
        }
    }
}

impl TryFrom<String> for KnownExpectation {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl fmt::Display for KnownExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ratio { arm, against, bound, is_above } => {
                let sign = if *is_above { '>' } else { '<' };
                write!(f, "{arm} / {against} {sign} {bound}")
            }
            Self::Order(arms) => f.write_str(&arms.join(" > ")),
            Self::Share { arm, function, falls } => {
                write!(f, "{arm}: {function} {}", if *falls { "falls" } else { "rises" })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lead_there_and_back() {
        for text in [
            "patched / stock > 1.1",
            "a-b / c < 1",
            "auto > multi > single",
            "a > b",
            "a: m:f/2 falls",
            "a: memcpy rises",
        ] {
            assert_eq!(KnownExpectation::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "a",
            "a / b",
            "a / b > c",
            "a / b > -1",
            "> b",
            "a >",
            "a: m:f/2",
            "a: falls",
            ": f falls",
        ] {
            KnownExpectation::parse(text).unwrap_err();
        }
    }
}
