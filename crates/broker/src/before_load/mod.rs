//! Changes to a node that was started for a run, made before it gets any load.

mod binary;
pub(crate) mod parameters;
pub(crate) mod patches;
pub(crate) mod policies;
mod refusal;
pub(crate) mod user;
