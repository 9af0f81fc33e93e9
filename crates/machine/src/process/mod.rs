//! A process as its files in `/proc` show it. Files of another user's process need the right to trace it, which the
//! caller raises.

mod arguments;
mod control_groups;
mod environment;
mod identity;
mod listing;
mod mappings;
mod open_files;
mod stat;
mod status;

pub use arguments::{arguments, first_argument};
pub use control_groups::ControlGroups;
pub use environment::environment;
pub use identity::{ProcessIdentity, Sight};
pub(crate) use listing::thread_ids;
pub use listing::{Thread, pids, threads};
pub use mappings::{Mapping, mappings};
pub use open_files::open_files;
pub use stat::Stat;
pub use status::Status;
