//! Exchanges, bindings, and sets of names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FieldValue;

/// An exchange.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `exchange.declare`, and ours")]
pub struct ExchangeSpec {
    /// Name of the exchange.
    pub name: String,
    /// `direct`, `fanout`, `topic`, `headers` or the name of a plugin's type (`x-…`).
    pub kind: String,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Goes away with its last binding.
    pub auto_delete: bool,
    /// Takes messages from other exchanges only.
    pub internal: bool,
    /// The exchange must already exist; it is neither declared nor removed.
    pub predeclared: bool,
    /// The exchange is declared if it does not exist. An existing exchange is used with any type and flags.
    pub if_missing: bool,
    /// Arguments of `exchange.declare`.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Exchanges that route to this one.
    pub bindings: Vec<Binding>,
    /// The exchange stays on the broker after the run.
    pub keep: bool,
}

/// A binding to an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The source exchange, such as `amq.direct`.
    pub exchange: String,
    /// Key of the binding. For a set of queues, a placeholder in it becomes the queue's number, or its name if the set
    /// is a list.
    pub routing_key: String,
    /// Arguments, such as `x-match`.
    pub arguments: BTreeMap<String, FieldValue>,
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
    /// Returns the number of values.
    pub fn count(self) -> usize {
        (self.to - self.from) as usize + 1
    }

    /// Yields `text` with its placeholder replaced by each number in turn.
    pub fn names(self, text: &str) -> impl Iterator<Item = String> + '_ {
        (self.from..=self.to).map(|number| numbered(text, number))
    }
}

/// The names that one `[[queues]]` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueNames {
    /// One queue with the entry's name.
    One,
    /// One queue for each number, which replaces the placeholder in the entry's name.
    Numbered(NumberRange),
    /// These queues; the entry's name is the name of the set.
    Listed(Vec<String>),
    /// One queue for each consumer, which declares it and gets its name from the broker.
    ByBroker,
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

impl QueueNames {
    /// Returns a table of arguments for each of the queues, with placeholders replaced as in routing keys. Absent if
    /// the table is the same for all.
    pub fn arguments_of_each(
        &self,
        arguments: &BTreeMap<String, FieldValue>,
    ) -> Option<Vec<BTreeMap<String, FieldValue>>> {
        arguments.values().any(FieldValue::has_placeholder).then_some(())?;
        let with = |other: &dyn Fn(&str) -> String| {
            arguments.iter().map(|(name, value)| (name.clone(), value.with_texts(other))).collect()
        };
        match self {
            Self::One | Self::ByBroker => None,
            Self::Numbered(NumberRange { from, to }) => {
                Some((*from..=*to).map(|number| with(&|text| numbered(text, number))).collect())
            }
            Self::Listed(names) => {
                Some(names.iter().map(|name| with(&|text| named(text, name))).collect())
            }
        }
    }
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
    fn with_texts(&self, other: &dyn Fn(&str) -> String) -> Self {
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

/// The type of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueType {
    /// A classic queue.
    Classic,
    /// A replicated queue.
    Quorum,
    /// A replicated log.
    Stream,
}
