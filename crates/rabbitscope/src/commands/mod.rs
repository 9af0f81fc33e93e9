//! The commands, one file each: its options, what of them is valid, and the call that does it.

mod arguments;
mod broker;
mod broker_uri;
mod command_line;
mod diff;
mod environment;
mod explain;
mod find_rate;
mod flamegraph;
mod inside;
mod leftovers;
mod load;
mod profile;
mod report;
mod run;
mod run_options;

pub use command_line::Cli;
