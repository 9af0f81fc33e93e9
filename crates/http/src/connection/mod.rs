//! Connections of clients: the state of each, its socket, and the table of all.

mod socket;
mod state;
mod table;

pub(crate) use socket::Socket;
pub(crate) use state::Connection;
pub(crate) use table::Connections;
