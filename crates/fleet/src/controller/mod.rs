//! The controller: it gathers workers, assigns their parts, starts them together and joins their measurements.

mod barrier;
mod begin;
mod bus_search;
mod connection;
mod control;
mod events;
mod facts;
mod gather;
mod options;
mod resume;
mod roster;

pub use connection::Controller;
pub use control::FleetTarget;
pub use options::ControllerOptions;
pub use resume::Resumption;
