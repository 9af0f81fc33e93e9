//! Terms in the notation of the Erlang shell, on one line.

use std::fmt;

use super::value::{Atom, Pid, Port, Reference, Term};

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Atom(atom) => atom.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Big(big) => {
                let sign = if big.negative { "-" } else { "" };
                write!(f, "{sign}16#")?;
                big.magnitude.iter().rev().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Pid(pid) => pid.fmt(f),
            Self::Port(port) => port.fmt(f),
            Self::Reference(reference) => reference.fmt(f),
            Self::Tuple(elements) => sequence(f, "{", elements, "}"),
            Self::List(elements) => match as_string(elements) {
                Some(text) => write!(f, "{text:?}"),
                None => sequence(f, "[", elements, "]"),
            },
            Self::Improper(elements, tail) => {
                sequence(f, "[", elements, "|")?;
                write!(f, "{tail}]")
            }
            Self::Map(pairs) => {
                f.write_str("#{")?;
                for (number, (key, value)) in pairs.iter().enumerate() {
                    let comma = if number == 0 { "" } else { "," };
                    write!(f, "{comma}{key} => {value}")?;
                }
                f.write_str("}")
            }
            Self::Binary(bytes) => binary(f, bytes),
            Self::Opaque(_) => f.write_str("#Fun"),
        }
    }
}

fn sequence(f: &mut fmt::Formatter<'_>, open: &str, elements: &[Term], end: &str) -> fmt::Result {
    f.write_str(open)?;
    for (number, element) in elements.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        write!(f, "{comma}{element}")?;
    }
    f.write_str(end)
}

/// Returns the text of a list of printable ASCII characters.
fn as_string(elements: &[Term]) -> Option<String> {
    let character = |element: &Term| {
        let code = u8::try_from(element.as_i64()?).ok()?;
        (code == b'\n' || (b' '..=b'~').contains(&code)).then_some(char::from(code))
    };
    if elements.is_empty() { None } else { elements.iter().map(character).collect() }
}

fn binary(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n') => {
            write!(f, "<<{text:?}>>")
        }
        _ => {
            f.write_str("<<")?;
            for (number, byte) in bytes.iter().enumerate() {
                let comma = if number == 0 { "" } else { "," };
                write!(f, "{comma}{byte}")?;
            }
            f.write_str(">>")
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.as_str();
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '@');
        if plain { f.write_str(name) } else { write!(f, "'{}'", name.escape_debug()) }
    }
}

/// Prints a pid as the node itself prints its own: the first number is the node's, 0.
impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<0.{}.{}>", self.id, self.serial)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#Port<0.{}>", self.id)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("#Ref<0")?;
        self.ids.iter().rev().try_for_each(|id| write!(f, ".{id}"))?;
        f.write_str(">")
    }
}
