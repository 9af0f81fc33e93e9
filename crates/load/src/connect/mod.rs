//! Connections of a run: made and set up before the load, and made again when they are lost.

mod fleet;
mod prepared_connection;
mod reconnector;

pub(crate) use fleet::{allow_descriptors, connect_all};
pub(crate) use prepared_connection::PreparedConnection;
pub(crate) use reconnector::{LostConnection, ReconnectedLinks, Reconnector};
