//! `rabbitscope workload`: its options, and the observation of a node or of a capture file.

mod command;
mod observing;

pub(in crate::commands) use command::Args;
