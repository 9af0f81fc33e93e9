//! Processes of the node: those that use most of a resource, and roles and names of recorded ones.

mod identities;
mod known_identities;
mod microstates;
mod rate_status;
mod top;
mod top_table;

pub use identities::IdentityResolver;
pub use known_identities::{IdentityModule, KnownIdentities};
pub use top::{TopKind, TopReader, TopSortKey};
