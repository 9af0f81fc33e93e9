//! Arguments of queues, exchanges, bindings and consumers.

use rabbitscope_amqp::protocol::values::ValueLayout;

use crate::protocols::{ArgumentBytes, is_known_argument};

/// A table of arguments, as it was sent, or its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arguments<'a>(&'a [u8]);

/// A value of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// `t`
    Bool(bool),
    /// Any of the types of whole numbers.
    Integer(i64),
    /// A text.
    Text(&'a [u8]),
    /// A value of another type.
    Other,
}

impl<'a> Arguments<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the values with keys that RabbitMQ knows. Values with other keys are data of applications.
    pub fn known(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        self.entries().filter(|(key, _)| is_known_argument(key))
    }

    /// Returns the number of keys that RabbitMQ does not know.
    pub fn unknown(self) -> usize {
        self.entries().filter(|(key, _)| !is_known_argument(key)).count()
    }

    fn entries(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let mut rest = ArgumentBytes::new(self.0);
        core::iter::from_fn(move || {
            let key = rest.short()?;
            Some((key, value(&mut rest)?))
        })
    }
}

/// Number of entries in a table; none if its bytes are incomplete.
pub(super) fn entries(bytes: &[u8]) -> Option<u16> {
    let (mut rest, mut count) = (ArgumentBytes::new(bytes), 0_u16);
    while !rest.rest().is_empty() {
        rest.short()?;
        value(&mut rest)?;
        count = count.saturating_add(1);
    }
    Some(count)
}

/// Reads a value by the letter of its type.
fn value<'a>(rest: &mut ArgumentBytes<'a>) -> Option<Value<'a>> {
    let letter = rest.u8()?;
    let integer = |bytes: &[u8]| {
        let is_negative = letter.is_ascii() && bytes.first().is_some_and(|first| *first > 0x7f);
        let start = if is_negative && is_signed(letter) { -1 } else { 0 };
        bytes.iter().fold(start, |number: i64, byte| number << 8 | i64::from(*byte))
    };
    Some(match (letter, ValueLayout::from_letter(letter)?) {
        (b't', _) => Value::Bool(rest.u8()? != 0),
        (b'b' | b'B' | b's' | b'u' | b'I' | b'i' | b'l' | b'L', ValueLayout::Fixed(bytes)) => {
            Value::Integer(integer(rest.bytes(bytes)?))
        }
        (b'S', _) => Value::Text(rest.long()?),
        (_, ValueLayout::Fixed(bytes)) => {
            rest.bytes(bytes)?;
            Value::Other
        }
        (_, ValueLayout::Bytes | ValueLayout::Array | ValueLayout::Table) => {
            rest.long()?;
            Value::Other
        }
    })
}

/// Returns whether integers with this letter have a sign (RabbitMQ's errata to AMQP 0-9-1).
const fn is_signed(letter: u8) -> bool {
    matches!(letter, b'b' | b's' | b'I' | b'l' | b'L')
}

/// Returns the text with a key; none if there is none.
pub(super) fn text<'a>(bytes: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let mut entries = Arguments::new(bytes).entries();
    entries.find_map(|(key, value)| match value {
        Value::Text(text) if key == wanted => Some(text),
        _ => None,
    })
}
