//! The objects that killed runs left on a broker that they did not start. A journal of this user lists them. They are
//! removed only if that is certainly safe.
//!
//! ```text
//! run: journal entry ─► marker, queues ─► load ─► queues removed ─► entry removed
//! next run, `leftovers`: entry ─► has its process ended? ─► is this its broker? ─► is it still its queue?
//! ```
//!
//! This machine answers the first question (`origin.rs` in crates/machine), and the broker the other two (`topology`
//! in crates/load). After one "no" or "not known", everything stays, and a message says so. AMQP does not show whether
//! an application has bound a queue in the meantime. The management interface shows it, or the user vouches for it.

mod journal;
mod management;
mod removal;

pub use journal::{Entry, Journal};
pub use management::Management;
pub use removal::{Outcome, RemovalConsent, Report, kept, remove};
