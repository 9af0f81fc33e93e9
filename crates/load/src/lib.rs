//! Load on a broker: publishers and consumers from a scenario, and what they measured.
//!
//! [`Session::open`] connects, says what the broker is and declares the scenario's queues;
//! [`Session::run`] puts the load on and reports every second; [`Session::close`] removes what was
//! declared. A few threads own many non-blocking connections each; every wake-up reads all there is
//! and writes once.
//!
//! What deliberately is not here: the broker's own CPU and memory (the program adds them to each
//! row), files, and anything that observes the broker from outside or inside.

mod aggregate;
mod assignment;
mod clock;
mod connect;
mod connection_churn;
mod context;
mod dial;
mod error;
mod latency;
mod link;
mod message;
mod outcome;
mod pacing;
mod plan;
mod polling;
mod random;
mod report;
mod run;
mod session;
mod topology;
mod verify;
mod worker;

pub use dial::Dialer;
pub use error::LoadError;
pub use latency::LatencyRecord;
pub use message::unreadable_file;
pub use outcome::{LoadOutcome, Progress};
pub use polling::{Page, PageError, PollOutcome, Pollers};
pub use session::{Memory, Owner, Session};
pub use topology::{
    Belongings, Depths, Kept, KeptReason, Leftovers, Messages, OwnedBinding, OwnedExchange,
    OwnedQueue, Removal, remove_leftovers,
};
