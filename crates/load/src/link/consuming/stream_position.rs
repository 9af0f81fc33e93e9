//! The position up to which a subscription has read a stream. The subscription resumes there after a lost connection,
//! as the broker does not know it.

use rabbitscope_amqp::{Table, Value};

const OFFSET: &str = "x-stream-offset";

/// The header with the offset of a message as bytes: length of the name, name, type.
const HEADER_FIELD: &[u8] = b"\x0fx-stream-offsetl";

/// The last message that was read. Its properties are kept as received, and parsed only when a connection is lost.
#[derive(Clone, Debug, Default)]
pub(super) struct StreamPosition(Vec<u8>);

impl StreamPosition {
    /// Creates the positions of the subscriptions; none if they do not read streams.
    pub(super) fn for_subscriptions(subscriptions: usize, arguments: &Table) -> Vec<Self> {
        let is_of_stream = arguments.0.iter().any(|(name, _)| name == OFFSET);
        vec![Self::default(); if is_of_stream { subscriptions } else { 0 }]
    }

    #[inline]
    pub(super) fn note(&mut self, properties: &[u8]) {
        self.0.clear();
        self.0.extend_from_slice(properties);
    }

    /// Returns the arguments of a subscription that resumes after the last message; absent if there was none.
    pub(super) fn going_on(&self, arguments: &Table) -> Option<Table> {
        let mut words = self.0.windows(HEADER_FIELD.len());
        let at = words.position(|word| word == HEADER_FIELD)? + HEADER_FIELD.len();
        let offset = i64::from_be_bytes(*self.0.get(at..)?.first_chunk()?);
        let mut table = arguments.clone();
        let next = Value::Integer(offset + 1);
        table
            .0
            .iter_mut()
            .filter(|(name, _)| name == OFFSET)
            .for_each(|field| field.1 = next.clone());
        Some(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_goes_on_behind_its_last_message() {
        let first = Value::Text("first".to_owned());
        let arguments =
            Table(vec![("x".to_owned(), Value::Bool(true)), (OFFSET.to_owned(), first)]);
        let mut positions = StreamPosition::for_subscriptions(2, &arguments);
        assert_eq!(positions[0].going_on(&arguments), None);
        let properties = [&b"\x20\0\0\0\0\x19"[..], HEADER_FIELD, &7041_i64.to_be_bytes()].concat();
        positions[1].note(&[0; 40]);
        positions[1].note(&properties);
        let next = positions[1].going_on(&arguments).unwrap();
        assert_eq!(next.0[0], arguments.0[0]);
        assert_eq!(next.0[1], (OFFSET.to_owned(), Value::Integer(7042)));
        positions[1].note(&properties[..properties.len() - 1]);
        assert_eq!(positions[1].going_on(&arguments), None, "cut off");
        assert!(StreamPosition::for_subscriptions(2, &Table(Vec::new())).is_empty());
    }
}
