//! The reading of a node for a diagnosis: every source at the same time, each within a budget.
//!
//! ```text
//! host      /proc, control groups, disk          ─┐
//! profile   CPU samples and time off the CPU      ├─► read ─► Case
//! packets   packets and sockets                   │
//! inside    tables and processes, by the cookie  ─┤
//! amqp      one connection, if it is asked for    ─┘
//! ```
//!
//! Each source has its own thread. A source that fails, or does not end in time, leaves a part with the reason and the
//! remedy. Elsewhere: the judgement of a case, and the choice of the node.

mod amqp;
mod baseline;
mod host;
mod inside;
mod load;
mod options;
mod packets;
mod pending;
mod profile;
mod read;
mod refusal;
mod run_directory;
mod span;
mod windows;

pub use amqp::AmqpOptions;
pub use baseline::{BaselineError, read_baseline};
pub use inside::NodeSession;
pub use load::ObservedLoad;
pub use options::CheckOptions;
pub use read::{CheckProgress, read, read_with_load};
pub use run_directory::{case_of_run, read_run_directory};
pub use windows::{case_of_profiles, read_windows};
