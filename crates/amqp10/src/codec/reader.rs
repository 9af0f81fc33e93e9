//! Reading of values. Sizes bound all work: nothing is read twice, and no value is deeper than [`DEEPEST`].

use rabbitscope_protocol::{self as protocol, Malformed};

use crate::protocol::constructors as code;

/// Largest number of descriptors around a value. The protocol needs one.
const DEEPEST: u32 = 4;

/// A value that was received. It borrows the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    /// `ubyte`, `ushort`, `uint` or `ulong`.
    Unsigned(u64),
    /// `byte`, `short`, `int`, `long` or `timestamp`.
    Signed(i64),
    /// Bytes, a fraction, a character, a UUID or a text in another encoding, whose content this client never needs.
    Other,
    Text(&'a str),
    Symbol(&'a str),
    List(Fields<'a>),
    /// Keys and values in turn.
    Map(Fields<'a>),
    /// The elements, with their constructor.
    Array(Fields<'a>),
    /// The descriptor, and the value behind it.
    Described(Descriptor<'a>, Reader<'a>),
}

/// The meaning of a described value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descriptor<'a> {
    Code(u64),
    Symbol(&'a str),
}

impl<'a> Value<'a> {
    /// Returns a text or symbol.
    pub(crate) fn words(self) -> Option<&'a str> {
        match self {
            Self::Text(words) | Self::Symbol(words) => Some(words),
            _ => None,
        }
    }

    /// Returns the symbols of an array, of a list, or of a single one.
    pub(crate) fn symbols(self) -> Vec<&'a str> {
        match self {
            Self::Array(fields) | Self::List(fields) => {
                fields.values().filter_map(Self::words).collect()
            }
            single => single.words().into_iter().collect(),
        }
    }
}

/// A reader of received bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    bytes: protocol::Reader<'a>,
    depth: u32,
}

/// The elements of a list, map or array that have not been read. Elements that are not there are null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    reader: Reader<'a>,
    left: u32,
    /// Constructor of all elements of an array.
    constructor: Option<u8>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes: protocol::Reader::new(bytes, what), depth: 0 }
    }

    pub(crate) fn malformed(&self) -> Malformed {
        self.bytes.malformed()
    }

    /// Returns the bytes that have not been read.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.rest()
    }

    /// Reads a value.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Malformed> {
        match self.bytes.u8()? {
            code::DESCRIBED => self.described(),
            constructor => self.content(constructor),
        }
    }

    /// Reads a described list, such as a performative. Returns its code and its fields.
    #[inline]
    pub(crate) fn described_list(&mut self) -> Result<(u64, Fields<'a>), Malformed> {
        let Value::Described(Descriptor::Code(code), mut value) = self.value()? else {
            return Err(self.malformed());
        };
        match value.value()? {
            Value::List(fields) => Ok((code, fields)),
            _ => Err(self.malformed()),
        }
    }

    fn described(&mut self) -> Result<Value<'a>, Malformed> {
        if self.depth >= DEEPEST {
            return Err(self.malformed());
        }
        self.depth += 1;
        let descriptor = match self.value()? {
            Value::Unsigned(code) => Descriptor::Code(code),
            Value::Symbol(symbol) => Descriptor::Symbol(symbol),
            _ => return Err(self.malformed()),
        };
        let value = *self;
        self.value()?;
        self.depth -= 1;
        Ok(Value::Described(descriptor, value))
    }

    /// Reads the content of a value with this constructor.
    #[inline]
    fn content(&mut self, constructor: u8) -> Result<Value<'a>, Malformed> {
        Ok(match constructor {
            code::NULL => Value::Null,
            code::TRUE => Value::Boolean(true),
            code::FALSE => Value::Boolean(false),
            code::BOOLEAN => Value::Boolean(self.bytes.u8()? != 0),
            code::UINT_0 | code::ULONG_0 => Value::Unsigned(0),
            code::UBYTE | code::SMALL_UINT | code::SMALL_ULONG => {
                Value::Unsigned(self.bytes.u8()?.into())
            }
            code::USHORT => Value::Unsigned(self.bytes.u16()?.into()),
            code::UINT => Value::Unsigned(self.bytes.u32()?.into()),
            code::ULONG => Value::Unsigned(self.bytes.u64()?),
            code::BYTE | code::SMALL_INT | code::SMALL_LONG => {
                Value::Signed(i8::from_be_bytes(self.bytes.array()?).into())
            }
            code::SHORT => Value::Signed(i16::from_be_bytes(self.bytes.array()?).into()),
            code::INT => Value::Signed(i32::from_be_bytes(self.bytes.array()?).into()),
            code::LONG | code::TIMESTAMP => Value::Signed(i64::from_be_bytes(self.bytes.array()?)),
            _ => return self.sized(constructor),
        })
    }

    /// Reads a value whose size precedes it, or one of a fixed size that is of no use here.
    fn sized(&mut self, constructor: u8) -> Result<Value<'a>, Malformed> {
        let is_short = constructor & 0x10 == 0;
        let size = match constructor >> 4 {
            0x7 => 4,
            0x8 => 8,
            0x9 => 16,
            0xa | 0xc | 0xe => self.bytes.u8()?.into(),
            0xb | 0xd | 0xf => self.bytes.u32()? as usize,
            _ if constructor == code::LIST_0 => 0,
            _ => return Err(self.malformed()),
        };
        let content = Self { bytes: self.bytes.part(size)?, ..*self };
        Ok(match constructor {
            code::TEXT_8 | code::TEXT_32 => content.words().map_or(Value::Other, Value::Text),
            code::SYMBOL_8 | code::SYMBOL_32 => content.words().map_or(Value::Other, Value::Symbol),
            code::LIST_0 => Value::List(content.elements(0)),
            code::LIST_8 | code::LIST_32 => Value::List(content.counted(is_short)?),
            code::MAP_8 | code::MAP_32 => Value::Map(content.counted(is_short)?),
            code::ARRAY_8 | code::ARRAY_32 => Value::Array(content.array_elements(is_short)?),
            0x70..=0x9f | code::BINARY_8 | code::BINARY_32 => Value::Other,
            _ => return Err(self.malformed()),
        })
    }

    /// Returns a text; `None` if it is no UTF-8: 3.10 returns addresses in Latin-1.
    fn words(self) -> Option<&'a str> {
        std::str::from_utf8(self.rest()).ok()
    }

    fn elements(self, count: u32) -> Fields<'a> {
        Fields { reader: self, left: count, constructor: None }
    }

    #[inline]
    fn count(&mut self, is_short: bool) -> Result<u32, Malformed> {
        if is_short { Ok(self.bytes.u8()?.into()) } else { self.bytes.u32() }
    }

    #[inline]
    fn counted(mut self, is_short: bool) -> Result<Fields<'a>, Malformed> {
        let count = self.count(is_short)?;
        // Every element has at least its constructor.
        if count as usize > self.rest().len() {
            Err(self.malformed())
        } else {
            Ok(self.elements(count))
        }
    }

    fn array_elements(mut self, is_short: bool) -> Result<Fields<'a>, Malformed> {
        let count = self.count(is_short)?;
        let constructor = self.bytes.u8()?;
        // Elements without a byte of their own must not make work.
        let count = count.min(u32::try_from(self.rest().len()).unwrap_or(u32::MAX));
        Ok(Fields { reader: self, left: count, constructor: Some(constructor) })
    }
}

impl<'a> Fields<'a> {
    /// Returns the next element.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Malformed> {
        if self.left == 0 {
            return Ok(Value::Null);
        }
        self.left -= 1;
        match self.constructor {
            None => self.reader.value(),
            Some(constructor) => self.reader.content(constructor),
        }
    }

    /// Returns the remaining elements, up to one that is malformed.
    pub(crate) fn values(mut self) -> impl Iterator<Item = Value<'a>> {
        std::iter::from_fn(move || (self.left > 0).then(|| self.value().ok()).flatten())
    }

    /// Returns the remaining pairs of a map.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (Value<'a>, Value<'a>)> {
        let mut values = self.values();
        std::iter::from_fn(move || Some((values.next()?, values.next()?)))
    }

    /// Passes over elements.
    #[inline]
    pub(crate) fn skip(&mut self, count: u32) -> Result<(), Malformed> {
        (0..count).try_for_each(|_| self.value().map(drop))
    }

    /// Returns the next element, which must be a number of at most 32 bits.
    #[inline]
    pub(crate) fn uint(&mut self) -> Result<Option<u32>, Malformed> {
        match self.value()? {
            Value::Null => Ok(None),
            Value::Unsigned(number) => {
                u32::try_from(number).map(Some).map_err(|_| self.reader.malformed())
            }
            _ => Err(self.reader.malformed()),
        }
    }

    /// Returns the next element, which must be a number of at most 32 bits.
    #[inline]
    pub(crate) fn required_uint(&mut self) -> Result<u32, Malformed> {
        self.uint()?.ok_or(self.reader.malformed())
    }

    /// Returns the next element, which must be true, false or absent. An absent one is false.
    #[inline]
    pub(crate) fn boolean(&mut self) -> Result<bool, Malformed> {
        match self.value()? {
            Value::Null => Ok(false),
            Value::Boolean(value) => Ok(value),
            _ => Err(self.reader.malformed()),
        }
    }

    /// Returns the next element, which must be a described list or absent.
    #[inline]
    pub(crate) fn described_list(&mut self) -> Result<Option<(u64, Fields<'a>)>, Malformed> {
        match self.value()? {
            Value::Null => Ok(None),
            Value::Described(Descriptor::Code(code), mut value) => match value.value()? {
                Value::List(fields) => Ok(Some((code, fields))),
                _ => Err(self.reader.malformed()),
            },
            _ => Err(self.reader.malformed()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String, Malformed> {
        let mut reader = Reader::new(bytes, "a value");
        let value = reader.value()?;
        let shown = shown(value)?;
        if reader.rest().is_empty() { Ok(shown) } else { Err(reader.malformed()) }
    }

    fn shown(value: Value<'_>) -> Result<String, Malformed> {
        let list = |fields: Fields<'_>| {
            fields.values().map(shown).collect::<Result<Vec<_>, _>>().map(|all| all.join(" "))
        };
        Ok(match value {
            Value::Null => "null".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Signed(number) => format!("{number:+}"),
            Value::Other => "other".to_owned(),
            Value::Text(words) => format!("{words:?}"),
            Value::Symbol(words) => words.to_owned(),
            Value::List(fields) => format!("[{}]", list(fields)?),
            Value::Map(fields) => format!("{{{}}}", list(fields)?),
            Value::Array(fields) => format!("({})", list(fields)?),
            Value::Described(descriptor, mut value) => {
                format!("{descriptor:?} {}", shown(value.value()?)?)
            }
        })
    }

    #[test]
    fn values_of_all_types() {
        let cases: [(&[u8], &str); 26] = [
            (b"\x40", "null"),
            (b"\x41", "true"),
            (b"\x56\x00", "false"),
            (b"\x43", "0"),
            (b"\x52\xff", "255"),
            (b"\x70\xff\xff\xff\xfc", "4294967292"),
            (b"\x44", "0"),
            (b"\x53\x24", "36"),
            (b"\x80\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
            (b"\x50\x07", "7"),
            (b"\x60\x01\x00", "256"),
            (b"\x54\xff", "-1"),
            (b"\x61\xff\xfe", "-2"),
            (b"\x71\xff\xff\xff\xfd", "-3"),
            (b"\x83\x00\x00\x00\x00\x00\x00\x00\x05", "+5"),
            (b"\x82\x00\x00\x00\x00\x00\x00\x00\x05", "other"),
            (b"\x98\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x05", "other"),
            (b"\xa0\x02\x01\x02", "other"),
            (b"\xb1\x00\x00\x00\x02hi", "\"hi\""),
            (b"\xa3\x02hi", "hi"),
            (b"\x45", "[]"),
            (b"\xc0\x03\x02\x41\x43", "[true 0]"),
            (b"\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x40", "[null]"),
            (b"\xc1\x05\x02\xa3\x01k\x41", "{k true}"),
            (b"\xe0\x06\x02\xa3\x01a\x01b", "(a b)"),
            (b"\x00\x53\x24\x45", "Code(36) []"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(read(bytes).as_deref(), Ok(expected), "{bytes:x?}");
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end]).is_err(), "{:x?}", &bytes[..end]);
            }
        }
    }

    #[test]
    fn texts_that_are_no_text_are_passed_over() {
        assert_eq!(read(b"\xc0\x05\x02\xa1\x01\xfc\x41").as_deref(), Ok("[other true]"));
    }

    #[test]
    fn elements_that_are_not_there_are_null() {
        let mut reader = Reader::new(b"\xc0\x02\x01\x41", "a value");
        let Ok(Value::List(mut fields)) = reader.value() else { panic!("a list") };
        assert_eq!(fields.boolean(), Ok(true));
        assert_eq!((fields.uint(), fields.boolean()), (Ok(None), Ok(false)));
        assert!(fields.required_uint().is_err());
    }

    #[test]
    fn counts_and_depths_that_lie_are_malformed() {
        assert!(read(b"\xc0\x02\xff\x40").is_err());
        assert!(read(b"\xd0\x00\x00\x00\x05\xff\xff\xff\xff\x40").is_err());
        assert!(read(&[0; 100]).is_err());
        let deep = [&[0x00, 0x53, 0x01].repeat(100)[..], b"\x40"].concat();
        assert!(read(&deep).is_err());
        // An array of a million elements without bytes.
        assert_eq!(read(b"\xf0\x00\x00\x00\x05\x00\x0f\xff\xff\x40").as_deref(), Ok("()"));
    }
}
