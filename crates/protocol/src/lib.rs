//! The parts of a client that are the same for each protocol of the broker, without input and output.
//!
//! A connection knows one protocol and no socket. Its caller owns the socket and the clock, and knows the connection by
//! [`Wire`]. It reads available bytes, takes events from them, and writes the [`OutputBuffer`] at once. Messages are
//! encoded once and copied ([`fill_with_copies`]). [`ConfirmRing`] knows the messages without a confirm, [`Heartbeat`] the
//! time of the next sign of life. Before the load, a [`Client`] waits for answers on a blocking socket.

mod client;
mod confirm;
mod copies;
mod encoded;
mod heartbeat;
mod input;
mod numbers;
mod output;
pub mod sections;
mod transport;
mod wire;

pub use client::{Client, ClientError};
pub use confirm::{ConfirmRing, UnknownConfirm};
pub use copies::fill_with_copies;
pub use encoded::Encoded;
pub use heartbeat::{Beat, Heartbeat};
pub use input::Input;
pub use numbers::{Malformed, Reader, Write, cut};
pub use output::{OutputBuffer, Room, TemplateId};
pub use transport::Transport;
pub use wire::{Renewals, Wire};
