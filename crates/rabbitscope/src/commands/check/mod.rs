//! `rabbitscope check`: its options, and the files that it writes.

mod cluster;
mod command;
mod load;
mod over_amqp;
mod recorded;
mod subject;
mod without_connection;

pub(super) use command::Args;
pub(super) use subject::Subject;
