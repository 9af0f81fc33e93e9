//! Modules that are loaded into the node for an observation and removed at its end, in every case.
//! `agent/README.md` has the agreement between both sides.

mod loaded;
mod request;
mod sources;

pub use loaded::{Compiled, Ended, Loaded};
pub use request::{Reply, Request};
pub use sources::ModuleSource;
