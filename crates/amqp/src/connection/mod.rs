//! One connection, as a state machine without a socket.
//!
//! Received bytes enter through [`Frames`](crate::Frames) and [`Connection::next_event`], bytes to be sent leave
//! through [`Connection::output`], and time enters through [`Connection::has_read`],
//! [`Connection::has_written`] and [`Connection::tick`].

mod assembly;
mod assembly_state;
mod channels;
mod handshake;
mod heartbeat;
mod receive;
mod send;
mod state;

pub use state::{Connection, Limits};
