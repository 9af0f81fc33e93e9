//! A load that several processes put on a broker together: one controller, and workers on any machine.
//!
//! They talk over a RabbitMQ, the bus, that is not the broker under test. Control is request and reply over queues
//! that go away with their connections; what workers measure goes to a stream, the log of the run, so that a
//! controller that was killed is replaced by one that reads the log from its beginning.
//!
//! ```text
//!                    assign, ping, start, wish                       updates, one a second
//! controller ◄──────────── queues of the bus ────────────► worker ─────────► log, a stream ──────► controller
//!                    hello twice a second, pong
//! ```
//!
//! `protocol` has the messages, `clocks` what one process knows of another's clock, `bus` the connection; `controller` and
//! `worker` are the two sides. The load itself, and joining what was measured, is `rabbitscope_load`.

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
