//! The bus: a connection to a RabbitMQ that carries the messages of a fleet, and the names that they have there.

mod address;
mod connection;
mod name;

pub use address::BusAddress;
pub(crate) use connection::{Bus, Received};
pub use name::FleetName;
