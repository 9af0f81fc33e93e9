//! Values of application properties, annotations and filters.

use crate::codec::Write;

/// A value that has no parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A text. In a filter, `&p:` and `&s:` before it compare with the beginning or the end.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Any other number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// Milliseconds since 1970.
    Timestamp(i64),
}

impl Scalar {
    /// Appends the value.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.put_text(text),
            Self::Number(number) => out.put_long(*number),
            Self::Float(number) => out.put_double(*number),
            Self::Boolean(value) => out.put_boolean(*value),
            Self::Timestamp(millis) => out.put_timestamp(*millis),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_types() {
        let check = |value: &Scalar, expected: &[u8]| {
            let mut out = Vec::new();
            value.write(&mut out);
            assert_eq!(out, expected, "{value:?}");
        };
        check(&Scalar::Text("a".to_owned()), b"\xa1\x01a");
        check(&Scalar::Number(-1), b"\x81\xff\xff\xff\xff\xff\xff\xff\xff");
        check(&Scalar::Float(0.5), b"\x82\x3f\xe0\0\0\0\0\0\0");
        check(&Scalar::Boolean(false), b"\x42");
        check(&Scalar::Timestamp(256), b"\x83\0\0\0\0\0\0\x01\0");
    }
}
