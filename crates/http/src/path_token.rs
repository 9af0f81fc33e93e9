//! The secret at the start of every path.
//!
//! A browser's `EventSource` sends no header of its own, and cookies are shared with other ports. A path is neither:
//! relative addresses in the page carry it along.

use std::{fmt, io};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;

/// 192 random bits.
const RANDOM_BYTES: usize = 24;

/// A random token of 32 letters, digits, `-` and `_`.
#[derive(Clone)]
pub(crate) struct PathToken(String);

impl PathToken {
    pub(crate) fn new() -> io::Result<Self> {
        let mut random = [0; RANDOM_BYTES];
        // Up to 256 bytes arrive in one piece (getrandom(2)).
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        Ok(Self(BASE64_URL_SAFE_NO_PAD.encode(random)))
    }

    /// Returns `/` and the token.
    pub(crate) fn prefix(&self) -> String {
        format!("/{}", self.0)
    }

    /// Returns the path behind the token, from its slash. The time does not depend on the position of an error in a
    /// token of the right length.
    pub(crate) fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (given, _) = path.strip_prefix('/')?.split_once('/')?;
        bool::from(given.as_bytes().ct_eq(self.0.as_bytes())).then(|| &path[given.len() + 1..])
    }
}

impl fmt::Debug for PathToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PathToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_one_is_taken_off() {
        let token = PathToken::new().unwrap();
        assert_ne!(token.0, PathToken::new().unwrap().0);
        assert_eq!(token.0.len(), 32);
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(token.rest(path), expected, "{path}");
        };
        let (prefix, given) = (token.prefix(), &token.0);
        check(&format!("{prefix}/"), Some("/"));
        check(&format!("{prefix}/a/b"), Some("/a/b"));
        check(&prefix, None);
        check(given, None);
        check(&format!("/{prefix}/"), None);
        check(&format!("/{}/", &given[1..]), None);
        check(&format!("{prefix}x/"), None);
        check(&format!("/{}/", given.to_uppercase() + "x"), None);
        check("/", None);
        check("", None);
        assert!(!format!("{token:?}").contains(given));
    }
}
