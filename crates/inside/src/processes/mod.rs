//! Processes of the node: the heaviest users of a resource, and the roles and names of recorded processes.

mod cluster_top;
mod identities;
mod known_identities;
mod microstates;
mod module_lending;
mod process_report;
mod process_text;
mod rate_status;
mod scheduler_use;
mod top;
mod top_notes;
mod top_order;
mod top_table;

pub(crate) use microstates::Microstates;
pub(crate) use scheduler_use::SchedulerUse;

pub use cluster_top::ClusterTop;
pub use identities::IdentityResolver;
pub use known_identities::{IdentityModule, KnownIdentities};
pub use module_lending::{ModuleBorrower, ModuleLender, module_lending};
pub use process_report::{ProcessReader, ProcessReport, WaitingReport};
pub use top::{Top, TopKind, TopReader, TopSortKey};
