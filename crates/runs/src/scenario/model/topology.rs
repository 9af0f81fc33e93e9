//! Exchanges, bindings, and sets of names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FieldValue;

/// An exchange.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of `exchange.declare`, and ours")]
pub struct ExchangeSpec {
    /// Its name.
    pub name: String,
    /// `direct`, `fanout`, `topic`, `headers` or the name of a plugin's type (`x-…`).
    pub kind: String,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Goes away with its last binding.
    pub auto_delete: bool,
    /// Takes messages from other exchanges only.
    pub internal: bool,
    /// Must be there already; is neither declared nor removed.
    pub predeclared: bool,
    /// Declared where it is not there; one that is there is used whatever its type and flags are.
    pub if_missing: bool,
    /// Arguments of `exchange.declare`.
    pub arguments: BTreeMap<String, FieldValue>,
    /// Exchanges that route to this one.
    pub bindings: Vec<Binding>,
    /// Leave it on the broker after the run.
    pub keep: bool,
}

/// A binding to an exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The exchange that messages come from, such as `amq.direct`.
    pub exchange: String,
    /// The binding's key. For a set of queues, a placeholder in it becomes the queue's number, or
    /// its name when the set is a list.
    pub routing_key: String,
    /// Arguments, such as `x-match`.
    pub arguments: BTreeMap<String, FieldValue>,
}

/// Numbers that take the place of `{}` in a name, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberRange {
    /// The first.
    pub from: u32,
    /// The last, at least `from`.
    pub to: u32,
}

impl NumberRange {
    /// How many there are.
    pub fn count(self) -> usize {
        (self.to - self.from) as usize + 1
    }

    /// `text` with its placeholder replaced by each number in turn.
    pub fn names(self, text: &str) -> impl Iterator<Item = String> + '_ {
        (self.from..=self.to).map(|number| numbered(text, number))
    }
}

/// Names that one `[[queues]]` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueNames {
    /// One queue, called as the entry is.
    One,
    /// One for each number, which replaces the placeholder in the entry's name.
    Numbered(NumberRange),
    /// These; the entry's name is the name of the set.
    Listed(Vec<String>),
    /// One for each consumer, which declares it and has its name from the broker.
    ByBroker,
}

/// Which queues of a set, or keys of a range, a member of a group has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberQueues {
    /// They are shared out: each has a member, and a member has several when there are more queues.
    #[default]
    Share,
    /// One each, in turn; queues beyond the number of members are left alone.
    One,
    /// Every member has all of them.
    All,
}

impl QueueNames {
    /// A table of arguments for each of the queues, in which placeholders are replaced as in routing keys; absent when the
    /// table is the same for all.
    pub fn arguments_of_each(
        &self,
        arguments: &BTreeMap<String, FieldValue>,
    ) -> Option<Vec<BTreeMap<String, FieldValue>>> {
        arguments.values().any(FieldValue::has_placeholder).then_some(())?;
        let with = |other: &dyn Fn(&str) -> String| {
            arguments.iter().map(|(name, it)| (name.clone(), it.with_texts(other))).collect()
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
    /// A text in it has a placeholder for a number; see [`has_placeholder`].
    pub fn has_placeholder(&self) -> bool {
        match self {
            Self::Text(text) => has_placeholder(text),
            Self::Array(items) => items.iter().any(Self::has_placeholder),
            Self::Table(table) => table.values().any(Self::has_placeholder),
            Self::Bool(_) | Self::Integer(_) | Self::Float(_) | Self::Time(_) => false,
        }
    }

    /// The same with other texts.
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

/// True when `text` has a placeholder for a number: `{}`, or `{:05}` for five digits at least.
pub fn has_placeholder(text: &str) -> bool {
    placeholder(text).is_some()
}

/// `text` with its first placeholder replaced by `number`.
pub(super) fn numbered(text: &str, number: u32) -> String {
    placeholder(text).map_or_else(
        || text.to_owned(),
        |(start, end, width)| format!("{}{number:0width$}{}", &text[..start], &text[end..]),
    )
}

/// `text` with its first placeholder replaced by `name`.
pub(super) fn named(text: &str, name: &str) -> String {
    placeholder(text).map_or_else(
        || text.to_owned(),
        |(start, end, _)| format!("{}{name}{}", &text[..start], &text[end..]),
    )
}

/// Start, end and number of digits.
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
