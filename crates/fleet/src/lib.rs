//! A load from several processes: one controller, and workers on any machine.
//!
//! The processes communicate over a RabbitMQ, the *bus*, which is not the broker under test. Control messages are
//! requests and replies over exclusive queues, which disappear with their connections. Measurements go to a stream,
//! the *log of the run*. If a controller is killed, its successor reads the log from the beginning.
//!
//! ```text
//!                    assign, ping, start, wish                       updates, one a second
//! controller ◄──────────── queues of the bus ────────────► worker ─────────► log, a stream ──────► controller
//!                    hello twice a second, pong
//! ```
//!
//! `protocol` has the messages, `clocks` the estimates of remote clocks and `bus` the connection. `controller` and
//! `worker` are the two sides. The load itself is in `rabbitscope_load`, the sum of
//! measurements in `rabbitscope_measurements`.

mod bus;
mod clocks;
mod controller;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod protocol;
mod worker;

pub use bus::{BusAddress, FleetName};
pub use controller::{Controller, ControllerOptions, FleetTarget, Resumption};
pub use error::FleetError;
pub use worker::{OwnBroker, WorkerOptions, WorkerSummary, serve};
