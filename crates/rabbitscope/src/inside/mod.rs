//! Looking inside a node: what its tables and processes say, as rows; queues over HTTP.
//!
//! What lives here: what RabbitMQ's answers mean and how they are shown. What deliberately does not:
//! the connection and the removal of what is loaded, which `rabbitscope-erlang` sees to.

mod columns;
mod listing;
mod prometheus;
mod reader;
mod service;

pub(crate) use columns::{Align, human_bytes, table};
pub(crate) use listing::{Listing, Missing, Page, QueueRow, SortKey, Source, Wanted};
pub(crate) use prometheus::prometheus;
pub(crate) use reader::QueueReader;
pub(crate) use service::{Guard, Service};
