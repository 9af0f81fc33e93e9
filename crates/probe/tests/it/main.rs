//! Live tests of the sampler: a real node of the distribution's RabbitMQ, and code whose share of
//! the CPU is known; and of the live sources for packets: connections on loopback. They need root, as the
//! sampler does.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod backends;
mod bench;
mod containers;
mod continuous;
mod debug_packages;
mod driver;
mod events;
mod known_answer;
mod lifetime;
mod lines;
mod ordinary_user;
mod packets;
