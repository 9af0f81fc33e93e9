//! The values, their constructors and accessors.

use std::{fmt, sync::Arc};

/// An Erlang term.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// `ok`
    Atom(Atom),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer beyond 64 bits.
    Big(BigInteger),
    /// `1.0`
    Float(f64),
    /// `<0.1.0>`
    Pid(Pid),
    /// `#Port<0.1>`
    Port(Port),
    /// `#Ref<0.1.2.3>`
    Reference(Reference),
    /// `{a, b}`
    Tuple(Vec<Term>),
    /// `[a, b]`. A text of the kind `"ab"` is a list of integers.
    List(Vec<Term>),
    /// `[a, b | c]`
    Improper(Vec<Term>, Box<Term>),
    /// `#{a => b}`, in the order in which the node sent it.
    Map(Vec<(Term, Term)>),
    /// `<<"ab">>`
    Binary(Vec<u8>),
    /// A fun, an external fun or a bit string, in external form; it can be sent back, but not read.
    Opaque(Opaque),
}

/// A name.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Atom(Arc<str>);

/// An integer beyond 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BigInteger {
    /// Below zero.
    pub negative: bool,
    /// The magnitude, least significant byte first.
    pub magnitude: Vec<u8>,
}

/// A process, on whichever node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pid {
    /// Its node.
    pub node: Atom,
    /// The number in the middle of `<0.123.0>`.
    pub id: u32,
    /// The number at the end.
    pub serial: u32,
    /// Which incarnation of the node.
    pub creation: u32,
}

/// A port, on whichever node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Port {
    /// Its node.
    pub node: Atom,
    /// Its number.
    pub id: u64,
    /// Which incarnation of the node.
    pub creation: u32,
}

/// A reference, on whichever node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Its node.
    pub node: Atom,
    /// Which incarnation of the node.
    pub creation: u32,
    /// Its numbers.
    pub ids: Vec<u32>,
}

/// A term in its external form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque(pub(super) Vec<u8>);

impl Atom {
    /// An atom of that name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Its name.
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
    /// An atom.
    pub fn atom(name: &str) -> Self {
        Self::Atom(Atom::new(name))
    }

    /// A tuple.
    pub fn tuple(elements: impl Into<Vec<Self>>) -> Self {
        Self::Tuple(elements.into())
    }

    /// A list.
    pub fn list(elements: impl Into<Vec<Self>>) -> Self {
        Self::List(elements.into())
    }

    /// A map with atoms as keys.
    pub fn map<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        Self::Map(pairs.into_iter().map(|(key, value)| (Self::atom(key), value)).collect())
    }

    /// A binary with the text as UTF-8.
    pub fn text(text: &str) -> Self {
        Self::Binary(text.as_bytes().to_vec())
    }

    /// The name of an atom.
    pub fn as_atom(&self) -> Option<&str> {
        if let Self::Atom(atom) = self { Some(atom.as_str()) } else { None }
    }

    /// True for this atom.
    pub fn is_atom(&self, name: &str) -> bool {
        self.as_atom() == Some(name)
    }

    /// An integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// An integer of zero or more that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Integer(value) => u64::try_from(*value).ok(),
            Self::Big(big) => big.as_u64(),
            _ => None,
        }
    }

    /// A number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of a tuple.
    pub fn as_tuple(&self) -> Option<&[Self]> {
        if let Self::Tuple(elements) = self { Some(elements) } else { None }
    }

    /// The elements of a tuple whose first is this atom, without the atom.
    pub fn as_tagged(&self, tag: &str) -> Option<&[Self]> {
        let (first, rest) = self.as_tuple()?.split_first()?;
        first.is_atom(tag).then_some(rest)
    }

    /// The elements of a proper list.
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(elements) = self { Some(elements) } else { None }
    }

    /// The bytes of a binary.
    pub fn as_binary(&self) -> Option<&[u8]> {
        if let Self::Binary(bytes) = self { Some(bytes) } else { None }
    }

    /// The text of a binary; what is no UTF-8 is replaced.
    pub fn to_text(&self) -> Option<String> {
        self.as_binary().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// A process.
    pub fn as_pid(&self) -> Option<&Pid> {
        if let Self::Pid(pid) = self { Some(pid) } else { None }
    }

    /// A reference.
    pub fn as_reference(&self) -> Option<&Reference> {
        if let Self::Reference(reference) = self { Some(reference) } else { None }
    }

    /// The value under an atom, of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(pairs) = self else { return None };
        pairs.iter().find(|(found, _)| found.is_atom(key)).map(|(_, value)| value)
    }
}

impl BigInteger {
    fn as_u64(&self) -> Option<u64> {
        let significant = self.magnitude.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
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
