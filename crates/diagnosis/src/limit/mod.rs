//! The one thing that limits a node's throughput or latency now.
//!
//! ```text
//! alarm host schedulers process disk lock distribution network consumers publishers   candidates of each kind
//!   │
//!   └──► decision   the limit, the runner-up, the certainty
//! ```
//!
//! A candidate has a score: 1 and above if it explains the rate by itself. *Unknown* is a valid answer.

mod alarm;
mod candidate;
mod consumers;
mod decision;
mod disk;
mod distribution;
mod host;
mod kind;
mod load;
mod lock;
mod network;
mod process;
mod publishers;
mod schedulers;
mod sight;
#[cfg(test)]
mod tests;

pub use candidate::Candidate;
pub use decision::Limit;
pub(crate) use decision::limit;
pub use kind::{Certainty, LimitKind};
