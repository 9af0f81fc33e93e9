//! Callers on one connection.

mod caller;
mod in_flight;
mod role;

pub(super) use role::Calling;
