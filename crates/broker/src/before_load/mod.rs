//! What is changed in a node that was started for a run, before it gets any load.

mod binary;
pub(crate) mod parameters;
pub(crate) mod patches;
pub(crate) mod policies;
mod refusal;
