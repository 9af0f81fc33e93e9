//! A connection, as a state machine without a socket.

mod assembly;
mod identifiers;
mod keep_alive;
mod login;
mod receive;
mod send;
mod state;

pub(crate) use keep_alive::PATIENCE;
pub use login::{Login, Mechanism};
pub use state::Connection;
