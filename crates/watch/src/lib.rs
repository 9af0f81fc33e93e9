//! `rabbitscope watch`: continuous recording of all nodes of this machine.
//!
//! - [`config`] is the configuration file.
//! - [`nodes`] finds nodes and hands them to the recorder.
//! - [`inside`] asks nodes for the roles of their processes, if that is allowed.
//! - [`delivery`] passes windows and [`metrics`] to the directory and to the exporters, whose secrets may change
//!   ([`exporter_files`]).
//! - [`judgements`] says what limited a node in its latest window.
//! - [`page`] shows all nodes in a browser, if the user asks for it.
//! - [`inbox`] waits for events.
//! - [`steps`] is the main loop.
//! - [`mod@check`] describes the effect of a configuration.

mod check;
mod config;
mod delivery;
mod exporter_files;
mod inbox;
mod inside;
mod judgements;
mod labelled_window;
mod metrics;
mod nodes;
mod page;
mod steps;

pub use check::check;
pub use config::{ConfigSource, TypedOptions};
pub use steps::watch;
