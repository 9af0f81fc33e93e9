//! The load against a real broker whose answers are damaged on their way.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod damage;
mod relay;
