//! The messages of a fleet on the bus.

mod log;
mod messages;

pub(crate) use log::{Begun, LogRecord, MemberStart};
pub(crate) use messages::{Assignment, Hello, Identity, Pong, ToController, ToWorker, WorkerState};
