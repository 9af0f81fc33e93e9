//! Weights of source lines. They stand beside the stacks and not in them, so that lines do not multiply the stacks. The
//! search for lines is elsewhere.

use std::sync::Arc;

use super::FrameId;

/// The weight of one source line of a function, in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineWeight {
    /// The function.
    pub frame: FrameId,
    /// The path of the line's file, as the compiler received it.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// Weight of the stacks with this line as innermost Erlang line, including the native code that ran for it.
    pub own: u64,
    /// Weight of the stacks that contain the function, with its innermost activation on this line. Each stack counts
    /// once for a function, so that the lines add up to its total.
    pub total: u64,
}
