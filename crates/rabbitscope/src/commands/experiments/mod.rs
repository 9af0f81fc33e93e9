//! Commands that compare runs, and what they have in common.

pub(super) mod compare;
pub(super) mod experiment;
pub(super) mod sweep;
