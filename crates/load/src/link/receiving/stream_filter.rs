//! The filter of a reader of a stream. The broker leaves out chunks that have no wanted message; the others arrive whole.

use std::sync::Arc;

use rabbitscope_runs::scenario::ConsumerGroup;

/// The messages that a reader wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StreamFilter {
    values: Arc<[String]>,
    /// True if messages without a value are wanted as well.
    unfiltered: bool,
}

impl StreamFilter {
    /// Returns the filter of a group; `None` if it wants all messages.
    pub(super) fn from_group(group: &ConsumerGroup) -> Option<Self> {
        let values = group.wanted_values();
        if values.is_empty() {
            return None;
        }
        let values = values.into_iter().map(str::to_owned).collect();
        Some(Self { values, unfiltered: group.wants_unfiltered() })
    }

    /// Returns whether a message with this value is wanted.
    #[inline]
    pub(super) fn wants(&self, value: Option<&[u8]>) -> bool {
        match value {
            Some(value) => self.values.iter().any(|wanted| wanted.as_bytes() == value),
            None => self.unfiltered,
        }
    }

    /// Returns the properties of a subscription with this filter.
    pub(super) fn properties(&self) -> Vec<(String, String)> {
        let values = self.values.iter().enumerate();
        let values = values.map(|(number, value)| (format!("filter.{number}"), value.clone()));
        let unfiltered =
            self.unfiltered.then(|| ("match-unfiltered".to_owned(), "true".to_owned()));
        values.chain(unfiltered).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(values: &[&str], unfiltered: bool) -> StreamFilter {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        StreamFilter { values, unfiltered }
    }

    #[test]
    fn values_and_their_absence_are_wanted_or_not() {
        let both = filter(&["a", "ü"], false);
        let wanted = [Some(&b"a"[..]), Some("ü".as_bytes()), Some(b"b"), Some(b""), None];
        assert_eq!(wanted.map(|value| both.wants(value)), [true, true, false, false, false]);
        assert!(filter(&["a"], true).wants(None));
    }

    #[test]
    fn each_value_is_a_property() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected =
            [pair("filter.0", "a"), pair("filter.1", "b"), pair("match-unfiltered", "true")];
        assert_eq!(filter(&["a", "b"], true).properties(), expected);
    }
}
