//! What every reader of a format takes, and the refusal that all share.

/// A value that was asked for and is not in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no value `{asked}` in it; it has {}", named(known))]
pub struct UnknownValue {
    /// The name that was asked for.
    pub asked: String,
    /// The names that the file has.
    pub known: Vec<String>,
}

fn named(known: &[String]) -> String {
    if known.is_empty() {
        return "one kind of weight, without a name: leave --value out".to_owned();
    }
    known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// Bytes that the profile may take, and that a compressed file may have after decompression.
    pub limit_bytes: u64,
    /// The value or event to take; the file's default when absent.
    pub value: Option<&'a str>,
}

impl ReadOptions<'_> {
    /// The default value of a file, within a limit.
    pub fn within(limit_bytes: u64) -> Self {
        Self { limit_bytes, value: None }
    }
}
