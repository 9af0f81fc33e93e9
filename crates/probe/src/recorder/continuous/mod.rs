//! Records several nodes continuously. One clock ticks for all of them. Each node's samples are delivered in
//! windows, each of which begins at the end of the one before.

mod fetch_pace;
mod recorder;

pub use recorder::{ContinuousOptions, ContinuousRecorder, NodeWindow};
