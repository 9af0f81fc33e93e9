//! The commands, one file each: its options, their validation, and the call that does the work.

mod arguments;
mod broker;
mod check;
mod cluster_profile;
mod command_line;
mod diff;
mod environment;
mod experiments;
mod explain;
mod facts;
mod flamegraph;
mod heatmap;
mod inside;
mod leftovers;
mod network;
mod profile;
mod report;
mod runs;
mod watch;

pub use command_line::Cli;
