//! A connection, as a state machine without a socket.
//!
//! Each member of a load has a session of its own with one link, which together are a *lane*. So an error of the broker,
//! which ends a whole session, touches one member, and windows of sessions hold back nobody else. One session more is for
//! new tokens.

mod handshake;
mod lane;
mod life;
mod receive;
mod receiver;
mod renewal;
mod renewal_state;
mod send;
mod sender;
mod state;
mod transfers;
mod window;

pub use receiver::Receiver;
pub use sender::Sender;
pub use state::{Connection, Login, Mechanism};
