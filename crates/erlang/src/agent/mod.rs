//! Modules that are loaded into the node for the time of an observation, and removed again for whatever reason
//! it ends. `agent/README.md` has the agreement between both sides.

mod loaded;
mod request;
mod sources;

pub use loaded::{Compiled, Ended, Loaded};
pub use request::{Reply, Request};
pub use sources::ModuleSource;
