//! Exchanges, bindings, and sets of names.

use serde::{Deserialize, Serialize};

use super::FieldValue;
use crate::scenario::model::values::{Arguments, yes};

/// An exchange.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `exchange.declare`, and ours")]
pub struct ExchangeSpec {
    /// Name of the exchange.
    pub name: String,
    /// `direct`, `fanout`, `topic`, `headers` or the name of a plugin's type (`x-…`).
    #[serde(rename = "type", default = "direct")]
    pub kind: String,
    /// Survives a restart of the broker.
    #[serde(default = "yes")]
    pub durable: bool,
    /// Goes away with its last binding.
    #[serde(default)]
    pub auto_delete: bool,
    /// Takes messages from other exchanges only.
    #[serde(default)]
    pub internal: bool,
    /// The exchange must already exist; it is neither declared nor removed.
    #[serde(default)]
    pub predeclared: bool,
    /// The exchange is declared if it does not exist. An existing exchange is used with any type and flags.
    #[serde(default)]
    pub if_missing: bool,
    /// The exchange stays on the broker after the run.
    #[serde(default)]
    pub keep: bool,
    /// Arguments of `exchange.declare`.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub arguments: Arguments,
    /// Exchanges that route to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
}

fn direct() -> String {
    "direct".to_owned()
}

/// A binding to an exchange.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Binding {
    /// The source exchange, such as `amq.direct`.
    pub exchange: String,
    /// Key of the binding. For a set of queues, a placeholder in it becomes the queue's number, or its name if the set
    /// is a list.
    #[serde(default)]
    pub routing_key: String,
    /// Arguments, such as `x-match`.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub arguments: Arguments,
}

/// Numbers that replace `{}` in a name, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The first number.
    pub from: u32,
    /// The last number, at least `from`.
    pub to: u32,
}

impl NumberRange {
    /// Creates a range; without `from`, it begins with 1.
    pub fn new(from: Option<u32>, to: u32) -> Self {
        Self { from: from.unwrap_or(1), to }
    }

    /// Returns the number of values.
    pub fn count(self) -> usize {
        (self.to - self.from) as usize + 1
    }

    /// Yields `text` with its placeholder replaced by each number in turn.
    pub fn names(self, text: &str) -> impl Iterator<Item = String> + '_ {
        (self.from..=self.to).map(|number| numbered(text, number))
    }
}

/// The assignment of the queues of a set, or keys of a range, to the members of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberQueues {
    /// Shared: each queue has a member, and a member has several if there are more queues than members.
    #[default]
    Share,
    /// One queue per member, in turn; queues beyond the number of members stay unused.
    One,
    /// Every member has all of them.
    All,
}

impl FieldValue {
    /// Returns whether a text in the value has a placeholder for a number; see [`has_placeholder`].
    pub fn has_placeholder(&self) -> bool {
        match self {
            Self::Text(text) => has_placeholder(text),
            Self::Array(items) => items.iter().any(Self::has_placeholder),
            Self::Table(table) => table.values().any(Self::has_placeholder),
            Self::Bool(_) | Self::Integer(_) | Self::Float(_) | Self::Time(_) => false,
        }
    }

    /// Returns the same value with its texts mapped by `other`.
    pub(super) fn with_texts(&self, other: &dyn Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(other(text)),
            Self::Array(items) => {
                Self::Array(items.iter().map(|item| item.with_texts(other)).collect())
            }
            Self::Table(table) => Self::Table(
                table.iter().map(|(name, item)| (name.clone(), item.with_texts(other))).collect(),
            ),
            Self::Bool(_) | Self::Integer(_) | Self::Float(_) | Self::Time(_) => self.clone(),
        }
    }
}

/// Returns whether `text` has a placeholder for a number: `{}`, or `{:05}` for at least five digits.
pub fn has_placeholder(text: &str) -> bool {
    placeholder(text).is_some()
}

/// Replaces the first placeholder of `text` with `number`.
pub(super) fn numbered(text: &str, number: u32) -> String {
    placeholder(text).map_or_else(
        || text.to_owned(),
        |(start, end, width)| format!("{}{number:0width$}{}", &text[..start], &text[end..]),
    )
}

/// Replaces the first placeholder of `text` with `name`.
pub(super) fn named(text: &str, name: &str) -> String {
    placeholder(text).map_or_else(
        || text.to_owned(),
        |(start, end, _)| format!("{}{name}{}", &text[..start], &text[end..]),
    )
}

/// Returns start, end and number of digits of the first placeholder.
fn placeholder(text: &str) -> Option<(usize, usize, usize)> {
    text.match_indices('{').find_map(|(start, _)| {
        let length = text[start..].find('}')?;
        let inside = &text[start + 1..start + length];
        let width = match inside.strip_prefix(":0") {
            None if inside.is_empty() => 0,
            None => return None,
            Some(digits) => digits.parse().ok().filter(|width| *width <= 20)?,
        };
        Some((start, start + length + 1, width))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_numbers() {
        fn check(text: &str, expected: &str) {
            assert_eq!(numbered(text, 42), expected);
        }
        check("q-{}", "q-42");
        check("q-{:05}-x", "q-00042-x");
        check("{a}{}{}", "{a}42{}");
        check("{:x}", "{:x}");
        check("{", "{");
        check("", "");
    }
}
