//! Live tests of the sampler, on a real node of the distribution's RabbitMQ with code of a known share of the CPU.
//! Live tests of the sources for packets, on connections on loopback. They need root, as the sampler does.

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
mod windows;
