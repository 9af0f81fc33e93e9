//! Filters of a receiver, which the broker may have or silently not have.

use crate::codec::{List, Write};

/// The place in a stream at which a receiver begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offset {
    /// `first`, `last`, `next`, or a span before now such as `10m`.
    Named(String),
    /// The message with this offset.
    At(u64),
    /// The chunk of this time, in milliseconds since 1970.
    Timestamp(i64),
}

/// A value that a property is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparand {
    /// A text. `&p:` and `&s:` before it compare with the beginning or the end.
    Text(String),
    /// A number.
    Number(i64),
    /// True or false.
    Boolean(bool),
}

/// A filter of a receiver. Its name on the wire is that of its descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The place in a stream.
    StreamOffset(Offset),
    /// Chunks of a stream that may have one of these filter values.
    StreamFilter(Vec<String>),
    /// With filter values: messages without one, too.
    StreamMatchUnfiltered,
    /// Messages with these properties, by the specification's names.
    Properties(Vec<(String, Comparand)>),
    /// Messages with these application properties.
    ApplicationProperties(Vec<(String, Comparand)>),
}

impl Filter {
    /// Returns its name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StreamOffset(_) => "rabbitmq:stream-offset-spec",
            Self::StreamFilter(_) => "rabbitmq:stream-filter",
            Self::StreamMatchUnfiltered => "rabbitmq:stream-match-unfiltered",
            Self::Properties(_) => "amqp:properties-filter",
            Self::ApplicationProperties(_) => "amqp:application-properties-filter",
        }
    }

    /// Appends name and described value to a map.
    pub(crate) fn write(&self, map: &mut List) {
        map.put(|out| out.put_symbol(self.name()));
        map.put(|out| {
            out.push(crate::protocol::constructors::DESCRIBED);
            out.put_symbol(self.name());
            self.write_value(out);
        });
    }

    fn write_value(&self, out: &mut Vec<u8>) {
        match self {
            Self::StreamOffset(Offset::Named(name)) => out.put_text(name),
            Self::StreamOffset(Offset::At(offset)) => out.put_ulong(*offset),
            Self::StreamOffset(Offset::Timestamp(millis)) => out.put_timestamp(*millis),
            Self::StreamFilter(values) => out.put_list(|list| {
                for value in values {
                    list.put(|out| out.put_text(value));
                }
            }),
            Self::StreamMatchUnfiltered => out.put_boolean(true),
            Self::Properties(pairs) => write_pairs(out, pairs, Vec::put_symbol),
            Self::ApplicationProperties(pairs) => write_pairs(out, pairs, Vec::put_text),
        }
    }
}

fn write_pairs(
    out: &mut Vec<u8>,
    pairs: &[(String, Comparand)],
    write_key: impl Fn(&mut Vec<u8>, &str),
) {
    out.put_map(|map| {
        for (key, value) in pairs {
            map.put(|out| write_key(out, key));
            map.put(|out| match value {
                Comparand::Text(text) => out.put_text(text),
                Comparand::Number(number) => out.put_long(*number),
                Comparand::Boolean(value) => out.put_boolean(*value),
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: &Filter, value: &[u8]) {
        let mut out = Vec::new();
        out.put_map(|map| filter.write(map));
        let name = filter.name();
        let symbol = [&[0xa3, u8::try_from(name.len()).unwrap()][..], name.as_bytes()].concat();
        let expected = [&symbol[..], &[0], &symbol, value].concat();
        assert_eq!(out[3..], expected);
        assert_eq!(out[..3], [0xc1, u8::try_from(expected.len() + 1).unwrap(), 2]);
    }

    #[test]
    fn filters_are_described_values() {
        check(&Filter::StreamOffset(Offset::Named("first".to_owned())), b"\xa1\x05first");
        check(&Filter::StreamOffset(Offset::At(7)), b"\x53\x07");
        let at = Filter::StreamOffset(Offset::Timestamp(1));
        check(&at, b"\x83\x00\x00\x00\x00\x00\x00\x00\x01");
        check(&Filter::StreamFilter(vec!["a".to_owned()]), b"\xc0\x04\x01\xa1\x01a");
        check(&Filter::StreamMatchUnfiltered, b"\x41");
        let pair = |value| vec![("subject".to_owned(), value)];
        let properties = Filter::Properties(pair(Comparand::Text("&p:a".to_owned())));
        check(&properties, b"\xc1\x10\x02\xa3\x07subject\xa1\x04&p:a");
        let application = Filter::ApplicationProperties(pair(Comparand::Boolean(true)));
        check(&application, b"\xc1\x0b\x02\xa1\x07subject\x41");
    }
}
