//! The name of a native function.

/// A name, or a replacement for a missing symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NativeName {
    /// A name from a symbol table, or from the table of this build.
    Known(String),
    /// A name from the VM. A debug file would be more reliable.
    FromVm(String),
    /// No name: the text is `module+0x1234`, or the address.
    Unknown(String),
}

impl NativeName {
    /// The replacement for code at an offset of the file at `path`.
    pub(super) fn unknown_in(path: &str, offset: u64) -> Self {
        let file = path.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or(path);
        Self::Unknown(format!("{file}+{offset:#x}"))
    }

    /// The text of any variant.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Known(text) | Self::FromVm(text) | Self::Unknown(text) => text,
        }
    }
}
