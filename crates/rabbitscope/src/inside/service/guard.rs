//! Who may ask: a token or a user with a password, from a file.

use std::{fmt, fs, path::Path};

use anyhow::Context;

use crate::exit::UsageError;

/// What a request has to bring.
#[derive(Clone)]
pub(crate) enum Guard {
    /// Nothing.
    Open,
    /// `Authorization` with exactly this value.
    Authorization(String),
}

impl Guard {
    /// The file has one line: `user:password`, or a token.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let line = text.trim();
        if line.is_empty() || line.contains(char::is_whitespace) {
            let wrong =
                format!("{} has to hold user:password or a token, on one line", file.display());
            return Err(UsageError(wrong).into());
        }
        Ok(Self::Authorization(if line.contains(':') {
            format!("Basic {}", base64(line.as_bytes()))
        } else {
            format!("Bearer {line}")
        }))
    }

    /// Takes the same time whichever character is the first that is wrong.
    pub(super) fn lets_in(&self, authorization: Option<&str>) -> bool {
        let Self::Authorization(expected) = self else { return true };
        let given = authorization.unwrap_or_default();
        let differences = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        given.len() == expected.len() && differences == 0
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "Open",
            Self::Authorization(_) => "Authorization(…)",
        })
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let number = (0..3).fold(0_usize, |number, at| {
            number << 8 | usize::from(three.get(at).copied().unwrap_or_default())
        });
        let digit = move |at: usize| {
            if at <= three.len() { char::from(DIGITS[number >> (18 - 6 * at) & 63]) } else { '=' }
        };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_rfc_4648_has_it() {
        fn check(text: &str, expected: &str) {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        check("", "");
        check("f", "Zg==");
        check("fo", "Zm8=");
        check("foo", "Zm9v");
        check("foobar", "Zm9vYmFy");
    }

    #[test]
    fn only_the_right_one_comes_in() {
        let guard = Guard::Authorization("Bearer abc".to_owned());
        assert!(guard.lets_in(Some("Bearer abc")));
        for wrong in [None, Some(""), Some("Bearer ab"), Some("Bearer abd"), Some("Bearer abcd")] {
            assert!(!guard.lets_in(wrong), "{wrong:?}");
        }
        assert!(Guard::Open.lets_in(None));
        assert!(!format!("{guard:?}").contains("abc"));
    }
}
