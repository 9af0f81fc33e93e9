//! Filters of a receiver, which the broker may have or silently not have.

use crate::{
    codec::{List, Write},
    scalar::Scalar,
};

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

/// A filter of a receiver.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// The place in a stream.
    StreamOffset(Offset),
    /// Chunks of a stream that may have one of these filter values.
    StreamFilter(Vec<String>),
    /// With filter values: messages without one, too.
    StreamMatchUnfiltered,
    /// Messages with these properties, by the specification's names.
    Properties(Vec<(String, Scalar)>),
    /// Messages with these application properties.
    ApplicationProperties(Vec<(String, Scalar)>),
    /// Messages for which this SQL expression is true.
    Sql(String),
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
            Self::Sql(_) => "sql-filter",
        }
    }

    /// Returns the first release of RabbitMQ that has the filter of this name: its first two numbers. Earlier ones repeat it
    /// in their answers, and send all messages.
    pub fn first_release(name: &str) -> (u32, u32) {
        match name {
            "sql-filter" => (4, 2),
            "amqp:properties-filter" | "amqp:application-properties-filter" => (4, 1),
            _ => (4, 0),
        }
    }

    /// Returns the descriptor of its value, which is its name but for SQL.
    fn descriptor(&self) -> &'static str {
        match self {
            Self::Sql(_) => "amqp:sql-filter",
            _ => self.name(),
        }
    }

    /// Appends name and described value to a map.
    pub(crate) fn write(&self, map: &mut List) {
        map.put(|out| out.put_symbol(self.name()));
        map.put(|out| {
            out.push(crate::protocol::constructors::DESCRIBED);
            out.put_symbol(self.descriptor());
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
            Self::Properties(pairs) => write_pairs(out, pairs, Vec::put_symbol, write_property),
            Self::ApplicationProperties(pairs) => {
                write_pairs(out, pairs, Vec::put_text, |out, _, value| value.write(out));
            }
            Self::Sql(expression) => out.put_text(expression),
        }
    }
}

fn write_pairs(
    out: &mut Vec<u8>,
    pairs: &[(String, Scalar)],
    write_key: impl Fn(&mut Vec<u8>, &str),
    write_value: impl Fn(&mut Vec<u8>, &str, &Scalar),
) {
    out.put_map(|map| {
        for (key, value) in pairs {
            map.put(|out| write_key(out, key));
            map.put(|out| write_value(out, key, value));
        }
    });
}

/// Appends the value of a property, which has the type of the property.
fn write_property(out: &mut Vec<u8>, name: &str, value: &Scalar) {
    match (name, value) {
        ("user-id", Scalar::Text(text)) => out.put_binary(text.as_bytes()),
        ("content-type" | "content-encoding", Scalar::Text(text)) => out.put_symbol(text),
        ("group-sequence", Scalar::Number(number)) => {
            out.put_uint(u32::try_from(*number).unwrap_or(u32::MAX));
        }
        _ => value.write(out),
    }
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
        let pair = |name: &str, value| vec![(name.to_owned(), value)];
        let text = |text: &str| Scalar::Text(text.to_owned());
        let properties = Filter::Properties(pair("subject", text("&p:a")));
        check(&properties, b"\xc1\x10\x02\xa3\x07subject\xa1\x04&p:a");
        let properties = Filter::Properties(pair("user-id", text("u")));
        check(&properties, b"\xc1\x0d\x02\xa3\x07user-id\xa0\x01u");
        let properties = Filter::Properties(pair("content-type", text("t")));
        check(&properties, b"\xc1\x12\x02\xa3\x0ccontent-type\xa3\x01t");
        let properties = Filter::Properties(pair("group-sequence", Scalar::Number(7)));
        check(&properties, b"\xc1\x13\x02\xa3\x0egroup-sequence\x52\x07");
        let application = Filter::ApplicationProperties(pair("subject", Scalar::Boolean(true)));
        check(&application, b"\xc1\x0b\x02\xa1\x07subject\x41");
    }

    #[test]
    fn the_filter_of_sql_has_another_name_than_its_descriptor() {
        let mut out = Vec::new();
        out.put_map(|map| Filter::Sql("TRUE".to_owned()).write(map));
        assert_eq!(out, b"\xc1\x25\x02\xa3\x0asql-filter\x00\xa3\x0famqp:sql-filter\xa1\x04TRUE");
    }
}
