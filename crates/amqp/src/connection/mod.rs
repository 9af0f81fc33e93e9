//! A connection, as a state machine without a socket.
//!
//! Received bytes enter through [`Wire`](rabbitscope_protocol::Wire), bytes to send and time too.

mod assembly;
mod assembly_state;
mod channels;
mod handshake;
mod receive;
mod send;
mod state;

pub use state::{Connection, Limits};
