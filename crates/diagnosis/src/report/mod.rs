//! The result of a check, for people and for programs.

mod amqp_text;
mod brief;
mod cluster;
mod room;
#[cfg(test)]
mod tests;
mod text;
mod whole;

pub use brief::{Brief, BriefFinding};
pub use cluster::{ClusterReport, MissingMember};
pub use whole::{CheckReport, FORMAT_VERSION};
