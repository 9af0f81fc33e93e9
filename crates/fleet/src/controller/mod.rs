//! The controller: it gathers workers, assigns their parts, starts them together and joins their measurements.

mod barrier;
mod begin;
mod connection;
mod control;
mod events;
mod facts;
mod gather;
mod resume;
mod roster;

pub use connection::{Controller, ControllerOptions};
pub use control::FleetTarget;
pub use resume::Resumption;
