//! Live tests of the throwaway broker, with the distribution's own RabbitMQ.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod broker;
mod cluster;
mod ending;
mod faults;
mod patches;
mod policies;
mod strangers;
mod tls;
