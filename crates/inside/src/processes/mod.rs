//! Processes of the node: those that use most of a resource, and roles and names of recorded ones.

mod cluster_top;
mod identities;
mod known_identities;
mod microstates;
mod rate_status;
mod top;
mod top_order;
mod top_table;

pub use cluster_top::ClusterTop;
pub use identities::IdentityResolver;
pub use known_identities::{IdentityModule, KnownIdentities};
pub use top::{Top, TopKind, TopReader, TopSortKey};
