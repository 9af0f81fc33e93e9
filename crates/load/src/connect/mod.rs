//! Connections of a run: set up before the load, and replaced when they are lost.

mod amqp10;
mod fleet;
mod mqtt;
mod prepared_connection;
mod reconnector;
mod streams;

pub(crate) use fleet::{allow_descriptors, connect_all};
pub(crate) use prepared_connection::{ONE_PROTOCOL, Prepared, PreparedConnection};
pub(crate) use reconnector::{LostConnection, ReconnectedLinks, Reconnector};
