//! Load on a broker: publishers and consumers from a scenario, and their measurements.
//!
//! [`Session::open`] connects, reads the properties of the broker and declares the queues of the scenario.
//! [`Session::run`] runs the load and reports every second. [`Session::close`] removes the declarations. A few threads
//! own many non-blocking connections each; every wake-up reads all available bytes and writes once.
//!
//! The folders follow the data:
//!
//! - `plan` and `message`: the demands of a scenario.
//! - `dial`, `topology` and `connect`: preparation of the broker and the connections.
//! - `link` and `worker`: the running connections, with the times of `pacing` and the bodies of `packing`.
//! - `report`: their reports; `verify` and `aggregate` evaluate them.
//! - `run` and `session`: assembly of all parts.
//! - `remote`: runs that several processes share (`share`).
//!
//! Not here: CPU and memory of the broker (the program adds them to each row), files, and observation of the broker
//! from outside or inside.

mod aggregate;
mod assignment;
mod clock;
mod connect;
mod connection_churn;
mod context;
mod dial;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod latency;
mod link;
mod message;
mod outcome;
mod pacing;
mod packing;
mod plan;
mod polling;
mod random;
mod refusal;
mod remote;
mod report;
mod run;
mod session;
mod share;
mod topology;
mod topology_error;
mod verify;
mod worker;

pub use dial::{ControlClient, ControlStream, Dialer};
pub use error::LoadError;
pub use latency::LatencyRecord;
pub use message::{BodyFiles, run_tag, unreadable_file};
pub use outcome::{LoadOutcome, Progress};
pub use plan::planned_connections;
pub use polling::{Page, PageError, PollOutcome, Pollers};
pub use refusal::BrokerRefusal;
pub use remote::{
    PartHost, PartSize, PartStart, PartWishes, RemoteEvent, RemoteStart, RemoteWorkers, RunAge,
    UpdateError,
};
pub use run::run_part;
pub use session::{BrokerOwner, CleanupJournal, Session, broker_facts};
pub use share::Share;
pub use topology::{
    BindingSource, BoundObject, ForeignBindings, KeptObject, KeptReason, Leftovers, Messages,
    OwnedBinding, OwnedExchange, OwnedQueue, OwnedTopology, QueueDepths, Removal, SeenBinding,
    remove_leftovers,
};
pub use topology_error::TopologyError;
