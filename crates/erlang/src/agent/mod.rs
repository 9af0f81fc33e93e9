//! Modules that are loaded into the node while somebody looks, and removed again for whatever reason
//! the looking ends. `agent/README.md` has the agreement between both sides.

mod loaded;
mod request;
mod sources;

pub use loaded::{Compiled, Ended, Loaded};
pub use request::{Reply, Request};
pub use sources::ModuleSource;
