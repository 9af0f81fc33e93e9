//! Latencies between related frames, and frames that could not be matched.
//!
//! [`Exchanges`] handles one connection. It takes the frames of both directions in the order of their times. A message
//! counts from the moment when its last frame could be read, such as a publish with the last frame of its body.
//! [`Replies`] matches requests and replies of AMQP 0-9-1, which may go over different connections.
//!
//! Distributions of latencies are not kept here; each latency goes to the caller.

mod amqp091;
mod amqp10;
mod connection;
mod latency;
mod mqtt;
mod outstanding;
mod rabbitmq_stream;
mod replies;
mod requests;
#[cfg(test)]
mod tests;

pub use connection::Exchanges;
pub use latency::Latency;
pub use replies::Replies;
