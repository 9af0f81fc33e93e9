//! The connection against bytes of a broker, in any pieces, and against damaged ones.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod broker;
mod damaged;
mod events;
mod flow;
mod renewal;
