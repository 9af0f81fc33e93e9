//! `rabbitscope watch`: all nodes of this machine recorded without end.
//!
//! [`config`] is its configuration file, [`nodes`] finds nodes and lets them be recorded, [`inside`] asks them, where it
//! may, what their processes are for, [`delivery`] hands windows and [`metrics`] to the directory and to the exporters,
//! whose secrets may change ([`exporter_files`]), [`inbox`] waits, and [`steps`] is the order of it all. [`mod@check`] says
//! what would be done.

mod check;
mod config;
mod delivery;
mod exporter_files;
mod inbox;
mod inside;
mod labelled_window;
mod metrics;
mod nodes;
mod steps;

pub(crate) use check::check;
pub(crate) use config::{ConfigSource, TypedOptions};
pub(crate) use steps::watch;
