//! The load against a real broker: answers that are damaged in transit, and removal concurrent with a publisher.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod damage;
mod relay;
mod removal;
mod stepping;
