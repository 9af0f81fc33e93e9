//! Load on a broker: publishers and consumers from a scenario, and their measurements.
//!
//! [`Session::open`] connects, reads the properties of the broker and declares the queues of the scenario.
//! [`Session::run`] runs the load and reports every second. [`Session::close`] removes the declarations. A few threads
//! own many non-blocking connections each; every wake-up reads all available bytes and writes once.
//!
//! The folders follow the data:
//!
//! - `plan` and `message`: the demands of a scenario.
//! - `connect`: preparation of the connections; `topology` prepares the broker, and `prefill` fills its queues.
//! - `link` and `worker`: the running connections, with the times of `pacing` and the bodies of `packing`.
//! - `run` and `session`: assembly of all parts.
//! - `share`: the part of one process of several.
//!
//! Not here: clocks and stamps (`timing`), reports and their sum (`measurements`), verification (`verify`), CPU and memory of the broker (the program adds them to each row), files, and observation of the broker
//! from outside or inside.

mod connect;
mod connection_churn;
mod context;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod link;
mod message;
mod pacing;
mod packing;
mod plan;
mod prefill;
mod run;
mod session;
mod share;
mod worker;

pub use error::LoadError;
pub use message::{BodyFiles, unreadable_file};
pub use plan::planned_connections;
pub use run::run_part;
pub use session::{BrokerOwner, CleanupJournal, Session, broker_facts};
pub use share::Share;
