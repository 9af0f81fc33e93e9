//! A connection, as a state machine without a socket.

mod chunk;
mod delivery;
mod frames;
mod handshake;
mod numbering;
mod receive;
mod send;
mod state;

pub use frames::{Codec, Compress};
pub use state::{Connection, Login, Mechanism};
