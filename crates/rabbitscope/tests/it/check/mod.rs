//! `rabbitscope check`, against a real broker: planted limits, its output, and its remains.

mod bench;
mod container;
mod early;
pub(crate) mod limits;
mod output;
mod over_amqp;
mod proof;
mod remains;
mod subject;
