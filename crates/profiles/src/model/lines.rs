//! On which lines of their source functions were found. It stands beside the stacks and not in them, so
//! that there are as many stacks as without. Nothing here knows how lines were found.

use std::sync::Arc;

use super::FrameId;

/// What one line of a function's source weighs, in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWeight {
    /// The function.
    pub frame: FrameId,
    /// The file that the line is in, as the compiler was given it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// Weight of the stacks whose innermost Erlang function is this one, on this line; the native code
    /// that ran for it included.
    pub own: u64,
    /// Weight of the stacks that the function occurs in, its innermost activation on this line: each
    /// stack counts once for a function, so that the lines add up to its total.
    pub total: u64,
}
