//! Records several nodes without end. One clock ticks for all of them; what was recorded is given out in windows, each
//! of which begins where the one before ended.

mod fetch_pace;
mod recorder;

pub use recorder::{ContinuousOptions, ContinuousRecorder, NodeWindow};
