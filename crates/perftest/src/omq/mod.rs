//! omq: its commands and options, and the sections of the scenario that does the same.

mod broker;
mod command;
mod consumers;
mod conversion;
mod options;
mod publishers;
mod queues;
mod target;
#[cfg(test)]
mod tests;

pub(super) use command::is_subcommand;
pub(super) use conversion::convert;
