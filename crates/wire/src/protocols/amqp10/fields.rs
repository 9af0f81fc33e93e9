//! Successive values of a performative's list (part 1, section 1.6).

use super::super::arguments::Arguments;

/// The unread fields of a list. Fields that are missing at the end are null.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a>(Arguments<'a>);

/// A value; kinds that no caller needs are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    /// Length of bytes or of a string.
    Binary(u32),
    /// Number of a described value's descriptor.
    Described(u64),
    Other,
}

impl<'a> Fields<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(Arguments::new(bytes))
    }

    /// Returns the next field. An unreadable field is null, and so are all after it.
    pub(super) fn next(&mut self) -> Value {
        if self.0.rest().is_empty() {
            return Value::Null;
        }
        value(&mut self.0).unwrap_or_else(|| {
            self.0 = Arguments::new(&[]);
            Value::Null
        })
    }

    pub(super) fn skip(&mut self, fields: usize) {
        for _ in 0..fields {
            self.next();
        }
    }

    pub(super) fn boolean(&mut self) -> bool {
        self.next() == Value::Bool(true)
    }

    pub(super) fn unsigned(&mut self) -> Option<u32> {
        match self.next() {
            Value::Unsigned(number) => u32::try_from(number).ok(),
            _ => None,
        }
    }
}

fn value(arguments: &mut Arguments<'_>) -> Option<Value> {
    let constructor = arguments.u8()?;
    if constructor == 0 {
        return described(arguments);
    }
    scalar(constructor, arguments)
}

/// Reads a described value and returns its descriptor's number. The value must not be described itself, as in all
/// performatives.
fn described(arguments: &mut Arguments<'_>) -> Option<Value> {
    let descriptor = arguments.u8()?;
    let number = match scalar(descriptor, arguments)? {
        Value::Unsigned(number) => number,
        _ => u64::MAX,
    };
    let constructor = arguments.u8()?;
    scalar(constructor, arguments)?;
    Some(Value::Described(number))
}

/// Reads a value by its constructor, whose upper half defines the length.
fn scalar(constructor: u8, arguments: &mut Arguments<'_>) -> Option<Value> {
    Some(match constructor {
        0x40 => Value::Null,
        0x41 => Value::Bool(true),
        0x42 => Value::Bool(false),
        0x43 | 0x44 => Value::Unsigned(0),
        0x56 => Value::Bool(arguments.u8()? != 0),
        0x50 | 0x52 | 0x53 => Value::Unsigned(u64::from(arguments.u8()?)),
        0x60 => Value::Unsigned(u64::from(arguments.u16()?)),
        0x70 => Value::Unsigned(u64::from(arguments.u32()?)),
        0x80 => Value::Unsigned(arguments.u64()?),
        0xa0 | 0xa1 | 0xa3 => Value::Binary(short(arguments)?),
        0xb0 | 0xb1 | 0xb3 => Value::Binary(long(arguments)?),
        _ => return other(constructor, arguments),
    })
}

fn short(arguments: &mut Arguments<'_>) -> Option<u32> {
    u32::try_from(arguments.short()?.len()).ok()
}

fn long(arguments: &mut Arguments<'_>) -> Option<u32> {
    u32::try_from(arguments.long()?.len()).ok()
}

fn other(constructor: u8, arguments: &mut Arguments<'_>) -> Option<Value> {
    match constructor >> 4 {
        4 => {}
        5 => drop(arguments.bytes(1)?),
        6 => drop(arguments.bytes(2)?),
        7 => drop(arguments.bytes(4)?),
        8 => drop(arguments.bytes(8)?),
        9 => drop(arguments.bytes(16)?),
        0xa | 0xc | 0xe => drop(arguments.short()?),
        0xb | 0xd | 0xf => drop(arguments.long()?),
        _ => return None,
    }
    Some(Value::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_widths() {
        fn check(bytes: &[u8], expected: Value) {
            let mut fields = Fields::new(bytes);
            assert_eq!(fields.next(), expected, "{bytes:?}");
            assert_eq!(fields.next(), Value::Null, "{bytes:?} has nothing behind it");
        }
        check(&[0x43], Value::Unsigned(0));
        check(&[0x52, 7], Value::Unsigned(7));
        check(&[0x70, 0, 0, 1, 2], Value::Unsigned(258));
        check(&[0x56, 1], Value::Bool(true));
        check(&[0xa0, 2, 1, 2], Value::Binary(2));
        check(&[0xb0, 0, 0, 0, 1, 9], Value::Binary(1));
        check(&[0x00, 0x53, 0x24, 0x45], Value::Described(0x24));
        check(&[0x00, 0x53, 0x25, 0xc0, 1, 0], Value::Described(0x25));
        check(&[0xc1, 1, 0], Value::Other);
        check(&[0x98, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], Value::Other);
        check(&[0xb0, 0xff, 0xff, 0xff, 0xff, 9], Value::Null);
        check(&[0x10], Value::Null);
    }
}
