//! The result of a check, for people and for programs.

mod cluster;
mod room;
#[cfg(test)]
mod tests;
mod text;
mod whole;

pub use cluster::{ClusterReport, MissingMember};
pub use whole::{CheckReport, FORMAT_VERSION};
