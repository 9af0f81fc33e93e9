//! The data of the page, as described in `docs/reference/formats.md`.

pub(crate) mod columns;
pub(crate) mod diff;
pub(crate) mod functions;
pub(crate) mod labels;
pub(crate) mod noise;
pub(crate) mod over_time;
pub(crate) mod owners;
pub(crate) mod packets;
pub(crate) mod profile;
pub(crate) mod reading;
pub(crate) mod series;
mod spans;
pub(crate) mod stacks;
pub(crate) mod whole;
