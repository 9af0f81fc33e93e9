//! Sending of the requests in a spool: one thread per exporter, one request at a time, in order.

mod answer;
mod backoff;
mod client;
mod credentials;
mod notices;
mod sender;

pub use backoff::RetryDelays;
pub(crate) use client::Client;
pub(crate) use notices::Notices;
pub(crate) use sender::{Sender, SharedFigures};
