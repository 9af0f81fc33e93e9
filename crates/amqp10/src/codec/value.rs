//! A value that was received.

use super::reader::{Fields, Reader};

/// A value that was received. It borrows the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    /// `ubyte`, `ushort`, `uint` or `ulong`.
    Unsigned(u64),
    /// `byte`, `short`, `int`, `long` or `timestamp`.
    Signed(i64),
    /// Bytes, a fraction, a character or a UUID, whose content this client never needs.
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
