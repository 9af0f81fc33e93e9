//! Readers on one connection, of each protocol but AMQP 0-9-1.
//!
//! [`Receiving`] is the same for all of them. A protocol adds its acknowledgements and credit ([`receives::Receives`])
//! and the handler of its events.

mod amqp10;
mod credit;
mod mqtt;
mod packed;
mod receives;
mod role;
mod stream_filter;
mod stream_offset;
mod stream_progress;
mod stream_tracking;
mod streams;

pub(super) use role::Receiving;
