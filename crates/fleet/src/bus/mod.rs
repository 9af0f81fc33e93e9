//! The bus: a connection to a RabbitMQ that carries a fleet's messages, its address, and the names of a fleet's
//! queues.

mod address;
mod connection;
mod name;

pub use address::BusAddress;
pub(crate) use connection::{Bus, Received};
pub use name::FleetName;
