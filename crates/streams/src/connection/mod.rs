//! A connection, as a state machine without a socket.

mod chunk;
mod delivery;
mod handshake;
mod numbering;
mod receive;
mod send;
mod state;
mod sub_entries;

pub use state::{Connection, Login, Mechanism};
pub use sub_entries::{Codec, Compress};
