//! Runs with a load from several processes, and what their bus may do.

mod bus_away;
mod protocols;
mod remote_control;
mod workers;
