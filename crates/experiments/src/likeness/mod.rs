//! The likeness of a scenario with the load that it was made of: a run of it, captured and measured like its source.

mod replay;

pub use replay::{Replayed, check, replay};
