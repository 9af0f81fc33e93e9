//! Load on a broker: publishers and consumers from a scenario, and what they measured.
//!
//! [`Session::open`] connects, says what the broker is and declares the scenario's queues;
//! [`Session::run`] puts the load on and reports every second; [`Session::close`] removes what was
//! declared. A few threads own many non-blocking connections each; every wake-up reads all there is
//! and writes once.
//!
//! What deliberately is not here: the broker's own CPU and memory (the program adds them to each
//! row), files, and anything that observes the broker from outside or inside.

mod breakdown;
mod burst_limiter;
mod churn;
mod clock;
mod connector;
mod depths;
mod dial;
mod emptying;
mod error;
mod fleet;
mod latency;
mod ledger;
mod link;
mod message;
mod outcome;
mod plan;
mod polling;
mod restore;
mod run;
mod schedule;
mod self_check;
mod service;
mod session;
mod stamp;
mod tally;
mod tempo;
mod timer;
mod timetable;
mod topology;
mod trace;
mod verify;
mod warm_up;
mod worker;

pub use depths::Depths;
pub use dial::Dialer;
pub use error::LoadError;
pub use message::unreadable_file;
pub use outcome::{LatencyRecord, LoadOutcome, Progress};
pub use polling::{Page, PageError, PollOutcome, Pollers};
pub use session::{Memory, Owner, Session};
pub use topology::{
    Belongings, Kept, KeptReason, Leftovers, Messages, OwnedBinding, OwnedExchange, OwnedQueue,
    Removal, remove_leftovers,
};
