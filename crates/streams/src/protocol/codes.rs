//! Codes of answers.

use std::fmt;

/// The code of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl Code {
    /// The request succeeded.
    pub const OK: Self = Self(1);
    /// No stream of that name.
    pub const NO_STREAM: Self = Self(2);
    /// The stream has no leader at present.
    pub const NOT_AVAILABLE: Self = Self(6);
    /// The server does not offer the mechanism.
    pub const MECHANISM: Self = Self(7);
    /// Wrong user or password.
    pub const AUTHENTICATION: Self = Self(8);
    /// A user who may come from the server's machine only.
    pub const LOOPBACK: Self = Self(11);
    /// The user may not use the virtual host, or it does not exist.
    pub const VHOST: Self = Self(12);
    /// The user lacks a permission.
    pub const ACCESS: Self = Self(16);
    /// No offset is stored under the name.
    pub const NO_OFFSET: Self = Self(19);

    /// Returns the words of the specification.
    fn words(self) -> Option<&'static str> {
        Some(match self.0 {
            1 => "OK",
            2 => "stream does not exist",
            3 => "subscription ID already exists",
            4 => "subscription ID does not exist",
            5 => "stream already exists",
            6 => "stream not available",
            7 => "SASL mechanism not supported",
            8 => "authentication failure",
            9 => "SASL error",
            10 => "SASL challenge",
            11 => "SASL authentication failure loopback",
            12 => "virtual host access failure",
            13 => "unknown frame",
            14 => "frame too large",
            15 => "internal error",
            16 => "access refused",
            17 => "precondition failed",
            18 => "publisher does not exist",
            19 => "no offset",
            _ => return None,
        })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(f, "{words} ({})", self.0),
            None => write!(f, "code {}", self.0),
        }
    }
}
