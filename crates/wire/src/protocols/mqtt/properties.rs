//! Properties of MQTT 5, without the texts and data in them (section 2.2.2).

use super::super::arguments::Arguments;

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Property {
    /// Its identifier.
    pub(crate) number: u8,
    /// Its value.
    pub(crate) value: Value,
}

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A number of any size.
    Number(u32),
    /// Bytes of a text or of data.
    Bytes(usize),
    /// Bytes of a user property, of its key and its value together.
    Pair(usize),
}

/// Returns the properties in these bytes, up to the first one that is incomplete or unknown.
pub(crate) fn properties(bytes: &[u8]) -> impl Iterator<Item = Property> {
    let mut rest = Arguments::new(bytes);
    core::iter::from_fn(move || {
        let number = rest.u8()?;
        Some(Property { number, value: value(number, &mut rest)? })
    })
}

fn value(number: u8, rest: &mut Arguments<'_>) -> Option<Value> {
    let text = |rest: &mut Arguments<'_>| {
        let length = rest.u16()?;
        rest.bytes(usize::from(length)).map(<[u8]>::len)
    };
    Some(match number {
        1 | 23 | 25 | 36 | 37 | 40..=42 => Value::Number(u32::from(rest.u8()?)),
        19 | 33..=35 => Value::Number(u32::from(rest.u16()?)),
        2 | 17 | 24 | 39 => Value::Number(rest.u32()?),
        11 => Value::Number(variable(rest)?),
        3 | 8 | 9 | 18 | 21 | 22 | 26 | 28 | 31 => Value::Bytes(text(rest)?),
        38 => Value::Pair(text(rest)? + text(rest)?),
        _ => return None,
    })
}

/// Reads a number of at most four bytes, seven bits in each (section 1.5.5).
pub(crate) fn variable(rest: &mut Arguments<'_>) -> Option<u32> {
    let mut number = 0;
    for at in 0..4 {
        let byte = rest.u8()?;
        number |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_and_texts_are_measured() {
        fn check(bytes: &[u8], expected: &[(u8, Value)]) {
            let read: Vec<_> = properties(bytes).map(|of| (of.number, of.value)).collect();
            assert_eq!(read, expected, "{bytes:?}");
        }
        check(b"\x21\0\x14\x11\0\0\0\x05", &[(33, Value::Number(20)), (17, Value::Number(5))]);
        check(
            b"\x26\0\x02ab\0\x03abc\x0b\x80\x01",
            &[(38, Value::Pair(5)), (11, Value::Number(128))],
        );
        check(b"\x03\0\x04text", &[(3, Value::Bytes(4))]);
        check(b"\x03\0\x04tex", &[]);
        check(b"\x7f\0\x04text", &[]);
        check(b"", &[]);
    }
}
