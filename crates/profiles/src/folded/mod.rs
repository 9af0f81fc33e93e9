//! Folded stacks: one line a stack, root first, `;` between frames, a space and a count at the end.
//!
//! The format keeps names and weights only. Labels, quality and the way of recording are lost; the
//! kinds of frames are recovered from their names. `docs/formats.md` describes what is written.

mod counts;
mod format;

pub use format::{FoldedError, read_folded, read_folded_with, write_folded};
