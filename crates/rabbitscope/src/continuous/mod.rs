//! `rabbitscope watch`: all nodes of this machine recorded without end.
//!
//! [`config`] is its configuration file, [`nodes`] finds nodes and lets them be recorded, [`delivery`] hands windows to
//! the directory and to the exporters, [`signals`] waits, and [`steps`] is the order of it all. [`check`] says what
//! would be done.

mod check;
mod config;
mod delivery;
mod nodes;
mod signals;
mod steps;

pub(crate) use check::check;
pub(crate) use config::{ConfigSource, TypedOptions};
pub(crate) use steps::watch;
