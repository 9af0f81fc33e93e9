//! Commands that compare runs, and their shared parts.

pub(super) mod compare;
pub(super) mod experiment;
pub(super) mod proof;
pub(super) mod sweep;
