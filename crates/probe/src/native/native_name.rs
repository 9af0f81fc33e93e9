//! What a native function is called.

/// A name, or a replacement when there is no symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NativeName {
    /// From a symbol table, or from the names of this build.
    Known(String),
    /// The VM tells it; a debug file would be the better witness.
    Told(String),
    /// `module+0x1234`, or the address.
    Unknown(String),
}

impl NativeName {
    /// Of the code at an offset of the file at `path`.
    pub(super) fn unknown_in(path: &str, offset: u64) -> Self {
        let file = path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path);
        Self::Unknown(format!("{file}+{offset:#x}"))
    }

    /// The text of either.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Known(text) | Self::Told(text) | Self::Unknown(text) => text,
        }
    }
}
