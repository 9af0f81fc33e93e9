//! A connection, as a state machine without a socket.
//!
//! Received bytes enter through [`Frames`](crate::Frames) and [`Connection::next_event`]. Bytes to send leave through
//! [`Connection::output`]. Time enters through [`Connection::has_read`], [`Connection::has_written`] and
//! [`Connection::tick`].

mod assembly;
mod assembly_state;
mod channels;
mod handshake;
mod heartbeat;
mod receive;
mod send;
mod state;

pub use state::{Connection, Limits};
