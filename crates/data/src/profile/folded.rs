//! Folded stacks: one line a stack, root first, `;` between frames, a space and a count at the end.

use std::io::{self, BufRead, Write};

use super::Profile;

/// Why a folded file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FoldedError {
    /// The input could not be read.
    #[error("cannot read folded stacks: {0}")]
    Io(#[from] io::Error),
    /// A line is not `frame;frame;… count`.
    #[error("line {line}: {problem}; expected `frame;frame;… count`")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// Writes `profile` as folded stacks, identical lines merged, sorted by name.
pub fn write_folded(_profile: &Profile, _out: impl Write) -> io::Result<()> {
    unimplemented!()
}

/// Reads folded stacks. Kinds of frames are recovered from their names.
pub fn read_folded(_input: impl BufRead) -> Result<Profile, FoldedError> {
    unimplemented!()
}
