//! What runs that were killed left on a broker that they did not start: known from a journal of this
//! user, removed only where that is certain.
//!
//! ```text
//! run: journal entry ─► marker, queues ─► load ─► queues removed ─► entry removed
//! next run, `leftovers`: entry ─► has its process ended? ─► is this its broker? ─► is it still its queue?
//! ```
//!
//! The first question is answered by this machine (`machine::ProcessOrigin`), the other two by the broker
//! (`topology` in crates/load). One "no" or "not known", and everything is left alone and said. AMQP does not tell
//! whether an application has bound a queue meanwhile: the management interface does, or a person answers for it.

mod journal;
mod management;
mod removal;

pub use journal::{Entry, Journal};
pub use management::Management;
pub use removal::{Outcome, RemovalConsent, Report, kept, remove};
