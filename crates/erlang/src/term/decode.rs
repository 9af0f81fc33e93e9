//! Decoder of the external form. The bytes are not trusted: memory stays proportional to their number, and depth and
//! number of terms are bounded.

use std::borrow::Cow;

use super::{
    tag,
    value::{Atom, BigInteger, Opaque, Pid, Port, Reference, Term},
};

/// Size limits of a term.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Depth of nested terms.
    pub depth: u16,
    /// Number of all terms; each takes some 50 bytes of memory.
    pub terms: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 256, terms: 4_000_000 }
    }
}

/// Limit of the characters that the VM allows in an atom.
const MAX_ATOM_CHARACTERS: usize = 255;

/// Limit of the elements whose memory is reserved before they are read. The count is not trusted, because each of
/// several nested tuples may claim all remaining bytes.
const MAX_RESERVED: usize = 1024;

/// A reason why bytes are no term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// The bytes end too early.
    #[error("the term ends too early")]
    Truncated,
    /// Bytes follow the term.
    #[error("{0} bytes follow the term")]
    Trailing(usize),
    /// The version byte is wrong.
    #[error("a term begins with 131, not with {0}")]
    Version(u8),
    /// A kind of term that no node sends to the hidden node.
    #[error("unknown term tag {0}")]
    Tag(u8),
    /// A number in the term is impossible.
    #[error("a {0} is not well-formed")]
    Malformed(&'static str),
    /// Terms are nested too deeply.
    #[error("the term is nested deeper than {0} levels")]
    TooDeep(u16),
    /// The term has too many parts.
    #[error("the term has more than {0} parts")]
    TooLarge(u32),
}

/// Decodes bytes that are exactly one term.
pub fn decode(bytes: &[u8], limits: Limits) -> Result<Term, TermError> {
    match decode_first(bytes, limits)? {
        (term, []) => Ok(term),
        (_, rest) => Err(TermError::Trailing(rest.len())),
    }
}

/// Decodes the first term of the bytes, and returns it with the rest.
pub fn decode_first(bytes: &[u8], limits: Limits) -> Result<(Term, &[u8]), TermError> {
    let mut reader = Reader { rest: bytes, limits, left: limits.terms, atoms: Vec::new() };
    let version = reader.byte()?;
    if version != tag::VERSION {
        return Err(TermError::Version(version));
    }
    let term = reader.term(limits.depth)?;
    Ok((term, reader.rest))
}

struct Reader<'a> {
    rest: &'a [u8],
    limits: Limits,
    left: u32,
    /// The first atoms of the term. Rows of a table repeat a few.
    atoms: Vec<Atom>,
}

/// Limit of shared atoms, which are searched linearly for each atom.
const MAX_KNOWN_ATOMS: usize = 16;

impl<'a> Reader<'a> {
    fn term(&mut self, depth: u16) -> Result<Term, TermError> {
        let start = self.rest;
        let tag = self.byte()?;
        self.take_from_budget(1)?;
        let inner = depth.checked_sub(1).ok_or(TermError::TooDeep(self.limits.depth));
        Ok(match tag {
            tag::SMALL_INTEGER => Term::Integer(self.byte()?.into()),
            tag::INTEGER => Term::Integer(i32::from_be_bytes(self.array()?).into()),
            tag::SMALL_BIG => {
                let length = self.byte()?;
                self.big(length.into())?
            }
            tag::LARGE_BIG => {
                let length = self.count()?;
                self.big(length)?
            }
            tag::NEW_FLOAT => Term::Float(f64::from_be_bytes(self.array()?)),
            tag::FLOAT => self.old_float()?,
            tag::SMALL_TUPLE => {
                let count = self.byte()?;
                Term::Tuple(self.terms(count.into(), inner?)?)
            }
            tag::LARGE_TUPLE => {
                let inner = inner?;
                let count = self.count()?;
                Term::Tuple(self.terms(count, inner)?)
            }
            tag::NIL => Term::List(Vec::new()),
            tag::STRING => self.string()?,
            tag::LIST => self.list(inner?)?,
            tag::MAP => self.map(inner?)?,
            tag::BINARY => {
                let length = self.count()?;
                Term::Binary(self.bytes(length)?.to_vec())
            }
            tag::BIT_BINARY | tag::NEW_FUN | tag::EXPORT => self.opaque(tag, start)?,
            tag::PID | tag::NEW_PID => self.pid(tag)?,
            tag::PORT | tag::NEW_PORT | tag::V4_PORT => self.port(tag)?,
            tag::NEW_REFERENCE | tag::NEWER_REFERENCE => self.reference(tag)?,
            tag => Term::Atom(self.atom_of(tag)?),
        })
    }

    fn take_from_budget(&mut self, terms: usize) -> Result<(), TermError> {
        let too_large = TermError::TooLarge(self.limits.terms);
        let terms = u32::try_from(terms).map_err(|_| too_large.clone())?;
        self.left = self.left.checked_sub(terms).ok_or(too_large)?;
        Ok(())
    }

    fn bytes(&mut self, length: usize) -> Result<&'a [u8], TermError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(TermError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TermError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(TermError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, TermError> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Result<u16, TermError> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, TermError> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads a count of bytes, or of items of at least a byte each.
    fn count(&mut self) -> Result<usize, TermError> {
        let count = self.u32()? as usize;
        if count > self.rest.len() { Err(TermError::Truncated) } else { Ok(count) }
    }

    fn terms(&mut self, count: usize, depth: u16) -> Result<Vec<Term>, TermError> {
        if count > self.rest.len() {
            return Err(TermError::Truncated);
        }
        if count > self.left as usize {
            return Err(TermError::TooLarge(self.limits.terms));
        }
        let mut terms = Vec::with_capacity(count.min(MAX_RESERVED));
        for _ in 0..count {
            terms.push(self.term(depth)?);
        }
        Ok(terms)
    }

    fn list(&mut self, depth: u16) -> Result<Term, TermError> {
        let count = self.count()?;
        let elements = self.terms(count, depth)?;
        Ok(match self.term(depth)? {
            Term::List(tail) if tail.is_empty() => Term::List(elements),
            tail if elements.is_empty() => tail,
            tail => Term::Improper(elements, Box::new(tail)),
        })
    }

    /// Reads a packed list of small integers.
    fn string(&mut self) -> Result<Term, TermError> {
        let length = self.u16()?.into();
        let bytes = self.bytes(length)?;
        self.take_from_budget(length)?;
        Ok(Term::List(bytes.iter().map(|&byte| Term::Integer(byte.into())).collect()))
    }

    fn map(&mut self, depth: u16) -> Result<Term, TermError> {
        let count = self.count()?;
        if count > self.rest.len() / 2 {
            return Err(TermError::Truncated);
        }
        if count > self.left as usize / 2 {
            return Err(TermError::TooLarge(self.limits.terms));
        }
        let mut pairs = Vec::with_capacity(count.min(MAX_RESERVED));
        for _ in 0..count {
            pairs.push((self.term(depth)?, self.term(depth)?));
        }
        Ok(Term::Map(pairs))
    }

    fn big(&mut self, length: usize) -> Result<Term, TermError> {
        let negative = self.byte()? != 0;
        let magnitude = self.bytes(length)?;
        Ok(small_enough(negative, magnitude).map_or_else(
            || Term::Big(BigInteger { negative, magnitude: magnitude.to_vec() }),
            Term::Integer,
        ))
    }

    fn old_float(&mut self) -> Result<Term, TermError> {
        let digits: [u8; 31] = self.array()?;
        let text = std::str::from_utf8(&digits).unwrap_or_default();
        let value = text.trim_end_matches('\0').parse();
        value.map(Term::Float).map_err(|_| TermError::Malformed("float"))
    }

    fn atom(&mut self) -> Result<Atom, TermError> {
        let tag = self.byte()?;
        self.atom_of(tag)
    }

    fn atom_of(&mut self, tag: u8) -> Result<Atom, TermError> {
        let length = match tag {
            tag::SMALL_ATOM | tag::SMALL_ATOM_UTF8 => self.byte()?.into(),
            tag::ATOM | tag::ATOM_UTF8 => self.u16()?.into(),
            tag => return Err(TermError::Tag(tag)),
        };
        let name = self.bytes(length)?;
        let is_latin_1 = matches!(tag, tag::ATOM | tag::SMALL_ATOM);
        let is_same = |atom: &&Atom| !is_latin_1 && atom.as_str().as_bytes() == name;
        if let Some(known) = self.atoms.iter().find(is_same) {
            return Ok(known.clone());
        }
        let name = if is_latin_1 {
            // Latin-1 characters have the same numbers in Unicode.
            Cow::Owned(name.iter().copied().map(char::from).collect::<String>())
        } else {
            Cow::Borrowed(std::str::from_utf8(name).map_err(|_| TermError::Malformed("atom"))?)
        };
        if name.chars().count() > MAX_ATOM_CHARACTERS {
            return Err(TermError::Malformed("atom"));
        }
        let atom = Atom::new(&name);
        if self.atoms.len() < MAX_KNOWN_ATOMS {
            self.atoms.push(atom.clone());
        }
        Ok(atom)
    }

    /// Reads the node's incarnation, which old forms store in two bits of a byte.
    fn creation(&mut self, old: bool) -> Result<u32, TermError> {
        if old { self.byte().map(u32::from) } else { self.u32() }
    }

    fn pid(&mut self, tag: u8) -> Result<Term, TermError> {
        let node = self.atom()?;
        let (id, serial) = (self.u32()?, self.u32()?);
        let creation = self.creation(tag == tag::PID)?;
        Ok(Term::Pid(Pid { node, id, serial, creation }))
    }

    fn port(&mut self, tag: u8) -> Result<Term, TermError> {
        let node = self.atom()?;
        let id = match tag {
            tag::V4_PORT => u64::from_be_bytes(self.array()?),
            _ => self.u32()?.into(),
        };
        let creation = self.creation(tag == tag::PORT)?;
        Ok(Term::Port(Port { node, id, creation }))
    }

    fn reference(&mut self, tag: u8) -> Result<Term, TermError> {
        const MAX_NUMBERS: u16 = 5;
        let count = self.u16()?;
        if count == 0 || count > MAX_NUMBERS {
            return Err(TermError::Malformed("reference"));
        }
        let node = self.atom()?;
        let creation = self.creation(tag == tag::NEW_REFERENCE)?;
        let ids = (0..count).map(|_| self.u32()).collect::<Result<_, _>>()?;
        Ok(Term::Reference(Reference { node, creation, ids }))
    }

    /// Reads a term that is kept in its external form; only its end must be found.
    fn opaque(&mut self, tag: u8, start: &[u8]) -> Result<Term, TermError> {
        match tag {
            tag::BIT_BINARY => {
                let length = self.count()?;
                self.byte()?;
                self.bytes(length)?;
            }
            tag::NEW_FUN => {
                // The size counts itself.
                let size = self.u32()?.checked_sub(4).ok_or(TermError::Malformed("fun"))?;
                self.bytes(size as usize)?;
            }
            _ => {
                self.atom()?;
                self.atom()?;
                self.term(1)?.as_i64().ok_or(TermError::Malformed("fun"))?;
            }
        }
        let length = start.len() - self.rest.len();
        Ok(Term::Opaque(Opaque(start[..length].to_vec())))
    }
}

/// Returns the value, if it fits into 64 bits.
fn small_enough(negative: bool, magnitude: &[u8]) -> Option<i64> {
    if magnitude.len() > 8 {
        return None;
    }
    let value = magnitude.iter().rev().fold(0, |value: u64, &byte| value << 8 | u64::from(byte));
    if negative { 0_i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
