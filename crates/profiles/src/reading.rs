//! Options and errors that all readers share.

/// A value that the caller chose and the file lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has no value `{asked}`; it has {}", named(known))]
pub struct UnknownValue {
    /// The name that the caller gave.
    pub asked: String,
    /// The names that the file has.
    pub known: Vec<String>,
}

fn named(known: &[String]) -> String {
    if known.is_empty() {
        return "one kind of weight, without a name: omit --value".to_owned();
    }
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Options for reading a file.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// Size limit of the profile in memory, and of a compressed file after decompression.
    pub limit_bytes: u64,
    /// The value or event to take; absent for the file's default.
    pub value: Option<&'a str>,
}

impl ReadOptions<'_> {
    /// Options for the default value of a file, within a limit.
    pub fn within(limit_bytes: u64) -> Self {
        Self { limit_bytes, value: None }
    }
}
