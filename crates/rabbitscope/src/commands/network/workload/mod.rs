//! `rabbitscope workload`: its options, the observation of a node or of a capture file, and the comparison of a scenario
//! with its source.

mod command;
mod comparing;
mod depths;
mod observing;
mod profiling;

pub(in crate::commands) use command::Args;
