//! The values, their constructors and accessors.

use std::{fmt, sync::Arc};

/// An Erlang term.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// An atom: `ok`
    Atom(Atom),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer beyond 64 bits.
    Big(BigInteger),
    /// A float: `1.0`
    Float(f64),
    /// A pid: `<0.1.0>`
    Pid(Pid),
    /// A port: `#Port<0.1>`
    Port(Port),
    /// A reference: `#Ref<0.1.2.3>`
    Reference(Reference),
    /// A tuple: `{a, b}`
    Tuple(Vec<Term>),
    /// A proper list: `[a, b]`. A string such as `"ab"` is a list of integers.
    List(Vec<Term>),
    /// An improper list: `[a, b | c]`
    Improper(Vec<Term>, Box<Term>),
    /// A map: `#{a => b}`, in the node's order.
    Map(Vec<(Term, Term)>),
    /// A binary: `<<"ab">>`
    Binary(Vec<u8>),
    /// A fun, an external fun or a bit string, in external form. It can be sent back, but not read.
    Opaque(Opaque),
}

/// A name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(Arc<str>);

/// An integer beyond 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigInteger {
    /// True for a number below zero.
    pub negative: bool,
    /// The magnitude, least significant byte first.
    pub magnitude: Vec<u8>,
}

/// A process of any node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pid {
    /// The node.
    pub node: Atom,
    /// The number in the middle of `<0.123.0>`.
    pub id: u32,
    /// The number at the end.
    pub serial: u32,
    /// The incarnation of the node.
    pub creation: u32,
}

/// A port of any node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// The node.
    pub node: Atom,
    /// The number.
    pub id: u64,
    /// The incarnation of the node.
    pub creation: u32,
}

/// A reference of any node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The node.
    pub node: Atom,
    /// The incarnation of the node.
    pub creation: u32,
    /// The numbers.
    pub ids: Vec<u32>,
}

/// A term in its external form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque(pub(super) Vec<u8>);

impl Atom {
    /// Makes an atom with this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Term {
    /// Makes an atom.
    pub fn atom(name: &str) -> Self {
        Self::Atom(Atom::new(name))
    }

    /// Makes a tuple.
    pub fn tuple(elements: impl Into<Vec<Self>>) -> Self {
        Self::Tuple(elements.into())
    }

    /// Makes a list.
    pub fn list(elements: impl Into<Vec<Self>>) -> Self {
        Self::List(elements.into())
    }

    /// Makes a map with atoms as keys.
    pub fn map<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (Self::atom(key), value)).collect())
    }

    /// Makes a binary of the text in UTF-8.
    pub fn text(text: &str) -> Self {
        Self::Binary(text.as_bytes().to_vec())
    }

    /// Returns the name of an atom.
    pub fn as_atom(&self) -> Option<&str> {
        if let Self::Atom(atom) = self { Some(atom.as_str()) } else { None }
    }

    /// Returns whether the term is this atom.
    pub fn is_atom(&self, name: &str) -> bool {
        self.as_atom() == Some(name)
    }

    /// Returns an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// Returns an integer of zero or more that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            Self::Big(big) => big.as_u64(),
            _ => None,
        }
    }

    /// Returns a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the elements of a tuple.
    pub fn as_tuple(&self) -> Option<&[Self]> {
        if let Self::Tuple(elements) = self { Some(elements) } else { None }
    }

    /// Returns the elements of a tuple after its first, if that is this atom.
    pub fn as_tagged(&self, tag: &str) -> Option<&[Self]> {
        let (first, rest) = self.as_tuple()?.split_first()?;
        first.is_atom(tag).then_some(rest)
    }

    /// Returns the elements of a proper list.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(elements) = self { Some(elements) } else { None }
    }

    /// Returns the bytes of a binary.
    pub fn as_binary(&self) -> Option<&[u8]> {
        if let Self::Binary(bytes) = self { Some(bytes) } else { None }
    }

    /// Returns the text of a binary, with invalid UTF-8 replaced.
    pub fn to_text(&self) -> Option<String> {
        self.as_binary().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Returns a pid.
    pub fn as_pid(&self) -> Option<&Pid> {
        if let Self::Pid(pid) = self { Some(pid) } else { None }
    }

    /// Returns a reference.
    pub fn as_reference(&self) -> Option<&Reference> {
        if let Self::Reference(reference) = self { Some(reference) } else { None }
    }

    /// Returns a map's value for this atom.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs.iter().find(|(found, _)| found.is_atom(key)).map(|(_, value)| value)
    }
}

impl BigInteger {
    fn as_u64(&self) -> Option<u64> {
        let significant =
            self.magnitude.iter().rposition(|&byte| byte != 0).map_or(0, |index| index + 1);
        if self.negative || significant > 8 {
            return None;
        }
        let bytes = self.magnitude[..significant].iter().rev();
        Some(bytes.fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }
}

macro_rules! from {
    ($($kind:ty => $variant:ident),*) => {$(
        impl From<$kind> for Term {
            fn from(value: $kind) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from!(Atom => Atom, i64 => Integer, i32 => Integer, u32 => Integer, f64 => Float, Pid => Pid,
      Reference => Reference, Vec<Term> => List);

impl From<bool> for Term {
    fn from(value: bool) -> Self {
        Self::atom(if value { "true" } else { "false" })
    }
}

impl From<u64> for Term {
    fn from(value: u64) -> Self {
        i64::try_from(value).map_or_else(
            |_| Self::Big(BigInteger { negative: false, magnitude: value.to_le_bytes().to_vec() }),
            Self::Integer,
        )
    }
}
