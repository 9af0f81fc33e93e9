//! Field tables: arguments of methods, headers of messages, properties of peers.
//!
//! The types are RabbitMQ's (<https://www.rabbitmq.com/amqp-0-9-1-errata>), which differ from the specification.

use rabbitscope_protocol::Write as _;

use crate::{
    error::Malformed,
    wire::{Reader, WriteStrings as _},
};

/// Limit on the nesting of tables.
const DEPTH_MAX: u8 = 16;

/// A value in a [`Table`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Void,
    /// True or false.
    Bool(bool),
    /// Any integer type; written as `l`.
    Integer(i64),
    /// Single or double precision; written as `d`.
    Float(f64),
    /// Decimal: `value` × 10^−`scale`.
    Decimal {
        /// Digits after the point.
        scale: u8,
        /// All digits as an integer.
        value: u32,
    },
    /// A long string. Reading replaces bytes that are not UTF-8.
    Text(String),
    /// A byte array.
    Bytes(Vec<u8>),
    /// Timestamp in seconds since 1970-01-01 UTC.
    Timestamp(u64),
    /// An array.
    Array(Vec<Value>),
    /// A table.
    Table(Table),
}

/// Names with values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table(pub Vec<(String, Value)>);

impl Table {
    /// Returns the value of `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the value of `name` if it is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        with_length(out, |out| {
            for (name, value) in &self.0 {
                out.put_short(name);
                value.write(out);
            }
        });
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        read_table(reader, DEPTH_MAX)
    }
}

impl Value {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Void => out.put_u8(b'V'),
            Self::Bool(value) => out.extend_from_slice(&[b't', u8::from(*value)]),
            Self::Integer(number) => {
                out.put_u8(b'l');
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::Float(number) => {
                out.put_u8(b'd');
                out.extend_from_slice(&number.to_be_bytes());
            }
            Self::Decimal { scale, value } => {
                out.extend_from_slice(&[b'D', *scale]);
                out.put_u32(*value);
            }
            Self::Text(text) => {
                out.put_u8(b'S');
                out.put_long(text.as_bytes());
            }
            Self::Bytes(bytes) => {
                out.put_u8(b'x');
                out.put_long(bytes);
            }
            Self::Timestamp(seconds) => {
                out.put_u8(b'T');
                out.put_u64(*seconds);
            }
            Self::Array(items) => {
                out.put_u8(b'A');
                with_length(out, |out| items.iter().for_each(|item| item.write(out)));
            }
            Self::Table(table) => {
                out.put_u8(b'F');
                table.write(out);
            }
        }
    }
}

fn with_length(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.put_u32(0);
    write(out);
    let length = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn read_table(reader: &mut Reader<'_>, depth: u8) -> Result<Table, Malformed> {
    let mut inner = Reader::new(reader.long_bytes()?);
    let mut fields = Vec::new();
    while !inner.is_empty() {
        fields.push((inner.short_text()?, read_value(&mut inner, depth)?));
    }
    Ok(Table(fields))
}

fn read_array(reader: &mut Reader<'_>, depth: u8) -> Result<Vec<Value>, Malformed> {
    let mut inner = Reader::new(reader.long_bytes()?);
    let mut items = Vec::new();
    while !inner.is_empty() {
        items.push(read_value(&mut inner, depth)?);
    }
    Ok(items)
}

fn read_value(reader: &mut Reader<'_>, depth: u8) -> Result<Value, Malformed> {
    let deeper = || depth.checked_sub(1).ok_or(Malformed("tables are nested too deep"));
    Ok(match reader.u8()? {
        b'V' => Value::Void,
        b't' => Value::Bool(reader.u8()? != 0),
        b'b' => Value::Integer(i64::from(reader.u8()?.cast_signed())),
        b'B' => Value::Integer(i64::from(reader.u8()?)),
        b's' => Value::Integer(i64::from(reader.u16()?.cast_signed())),
        b'u' => Value::Integer(i64::from(reader.u16()?)),
        b'I' => Value::Integer(i64::from(reader.u32()?.cast_signed())),
        b'i' => Value::Integer(i64::from(reader.u32()?)),
        b'l' => Value::Integer(reader.u64()?.cast_signed()),
        b'f' => Value::Float(f64::from(f32::from_bits(reader.u32()?))),
        b'd' => Value::Float(f64::from_bits(reader.u64()?)),
        b'D' => Value::Decimal { scale: reader.u8()?, value: reader.u32()? },
        b'S' => Value::Text(String::from_utf8_lossy(reader.long_bytes()?).into_owned()),
        b'x' => Value::Bytes(reader.long_bytes()?.to_vec()),
        b'T' => Value::Timestamp(reader.u64()?),
        b'A' => Value::Array(read_array(reader, deeper()?)?),
        b'F' => Value::Table(read_table(reader, deeper()?)?),
        _ => return Err(Malformed("a table has a value of unknown type")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::values::ValueLayout;

    fn read(bytes: &[u8]) -> Result<Table, Malformed> {
        Table::read(&mut Reader::new(bytes))
    }

    #[test]
    fn every_type_reads_back() {
        let inner = Table(vec![("k".to_owned(), Value::Void)]);
        let all = [
            Value::Bool(true),
            Value::Integer(-7),
            Value::Float(0.5),
            Value::Decimal { scale: 2, value: 314 },
            Value::Text("ü".to_owned()),
            Value::Bytes(vec![0, 255]),
            Value::Timestamp(1),
            Value::Array(vec![Value::Integer(1), Value::Table(inner.clone())]),
            Value::Table(inner),
        ];
        let table = Table(all.into_iter().map(|value| ("name".to_owned(), value)).collect());
        let mut bytes = Vec::new();
        table.write(&mut bytes);
        assert_eq!(read(&bytes), Ok(table));
    }

    #[test]
    fn small_integers_from_bytes() {
        fn check(value: &[u8], expected: i64) {
            let mut bytes = vec![0, 0, 0, u8::try_from(value.len() + 2).unwrap(), 1, b'a'];
            bytes.extend_from_slice(value);
            assert_eq!(read(&bytes).unwrap().get("a"), Some(&Value::Integer(expected)));
        }
        check(&[b'b', 0xff], -1);
        check(&[b'B', 0xff], 255);
        check(&[b's', 0xff, 0xfe], -2);
        check(&[b'u', 0xff, 0xfe], 65_534);
        check(&[b'I', 0xff, 0xff, 0xff, 0xff], -1);
        check(&[b'i', 0xff, 0xff, 0xff, 0xff], 4_294_967_295);
    }

    #[test]
    fn values_have_the_layout_of_their_letter() {
        for letter in 0..=u8::MAX {
            let (known, fixed) = match ValueLayout::from_letter(letter) {
                Some(ValueLayout::Fixed(bytes)) => (true, bytes),
                Some(ValueLayout::Bytes | ValueLayout::Array | ValueLayout::Table) => (true, 4),
                None => (false, 0),
            };
            let bytes = [&[letter][..], &vec![0; fixed]].concat();
            let mut reader = Reader::new(&bytes);
            // RabbitMQ sends no `L`.
            let is_read = read_value(&mut reader, 1).is_ok();
            assert_eq!(is_read, known && letter != b'L', "{letter}");
            assert!(!is_read || reader.is_empty(), "{letter}");
        }
    }

    #[test]
    fn damage_is_refused() {
        assert!(read(&[0, 0, 0, 9, 1]).is_err());
        assert!(read(&[0, 0, 0, 3, 1, b'a', b'?']).is_err());
        let mut nested = Table::default();
        for _ in 0..40 {
            nested = Table(vec![("n".to_owned(), Value::Table(nested))]);
        }
        let mut bytes = Vec::new();
        nested.write(&mut bytes);
        assert_eq!(read(&bytes), Err(Malformed("tables are nested too deep")));
    }
}
