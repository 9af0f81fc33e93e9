//! A connection, as a state machine without a socket.

mod answer;
mod assembly;
mod assembly_state;
mod identifiers;
mod keep_alive;
mod login;
mod receive;
mod send;
mod state;

pub(crate) use keep_alive::PATIENCE;
pub use login::{Login, Mechanism};
pub use state::Connection;
