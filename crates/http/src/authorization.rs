//! Credentials that clients have to send: a token, or user and password, from a file.

use std::{fmt, fs::Metadata, io, os::unix::fs::MetadataExt, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use subtle::ConstantTimeEq;

use super::ListenError;

/// Size limit of the file. A longer token would not fit into a head with the other headers.
const MAX_FILE_BYTES: u64 = 4096;

/// Permission bits that let other users read or write a file.
const OF_OTHERS: u32 = 0o006;

/// The expected value of the header `Authorization`.
#[derive(Clone)]
pub(crate) struct Authorization {
    scheme: &'static str,
    credentials: String,
}

impl Authorization {
    /// Reads the file's only line: `user:password`, or a token.
    pub(crate) fn read(path: &Path) -> Result<Self, ListenError> {
        let wrong = |reason: String| ListenError::Usage(format!("{}: {reason}", path.display()));
        let unreadable = |error: io::Error| wrong(format!("cannot be read: {error}"));
        let file = rabbitscope_files::open(path, MAX_FILE_BYTES).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        refuse_unsafe(&metadata).map_err(wrong)?;
        let bytes = rabbitscope_files::read_all(file, MAX_FILE_BYTES).map_err(unreadable)?;
        let text =
            String::from_utf8(bytes).map_err(|_| wrong("is not text in UTF-8".to_owned()))?;
        let line = text.trim();
        if line.is_empty() || line.contains(char::is_whitespace) {
            return Err(wrong("must contain user:password or a token, on one line".to_owned()));
        }
        Ok(Self::from_line(line))
    }

    pub(crate) fn from_line(line: &str) -> Self {
        if line.contains(':') {
            Self { scheme: "Basic", credentials: BASE64_STANDARD.encode(line) }
        } else {
            Self { scheme: "Bearer", credentials: line.to_owned() }
        }
    }

    /// Checks the value of the header. The time does not depend on the position of an error in credentials of the
    /// right length.
    pub(crate) fn lets_in(&self, given: Option<&str>) -> bool {
        let Some((scheme, credentials)) = given.and_then(|given| given.split_once(' ')) else {
            return false;
        };
        let is_right = credentials.trim_start().as_bytes().ct_eq(self.credentials.as_bytes());
        scheme.eq_ignore_ascii_case(self.scheme) && bool::from(is_right)
    }

    /// Returns the value of `WWW-Authenticate`.
    pub(crate) fn challenge(&self) -> String {
        format!("{} realm=\"rabbitscope\"", self.scheme)
    }
}

fn refuse_unsafe(metadata: &Metadata) -> Result<(), String> {
    if metadata.mode() & OF_OTHERS == 0 {
        return Ok(());
    }
    let reason = "other users of this machine can read or write it; chmod 600, or 640 for a group";
    Err(reason.to_owned())
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} …", self.scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_right_one_comes_in() {
        fn check(line: &str, given: Option<&str>, expected: bool) {
            assert_eq!(Authorization::from_line(line).lets_in(given), expected, "{line} {given:?}");
        }
        for good in ["Bearer abc", "bearer abc", "BEARER  abc"] {
            check("abc", Some(good), true);
        }
        for bad in ["", "Bearer", "Bearer ", "Bearer ab", "Bearer abd", "Bearer abcd", "Basic abc"]
        {
            check("abc", Some(bad), false);
        }
        check("abc", None, false);
        // printf u:p | base64
        check("u:p", Some("basic dTpw"), true);
        check("u:p", Some("Basic dTpX"), false);
        check("u:p", Some("Bearer u:p"), false);
        assert!(!format!("{:?}", Authorization::from_line("abc")).contains("abc"));
    }
}
