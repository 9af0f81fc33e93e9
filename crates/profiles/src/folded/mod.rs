//! Folded stacks, one stack per line: root first, `;` between frames, a space and a count at the end.
//!
//! The format keeps names and weights only. It loses labels, quality and capture; the reader derives the kinds of
//! frames from their names. `docs/reference/formats.md` describes the written form.

mod counts;
mod format;

pub use format::{FoldedError, read_folded, read_folded_with, write_folded};
