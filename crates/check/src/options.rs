//! The subject of a check.

use std::time::Duration;

use rabbitscope_diagnosis::Unread;
use rabbitscope_erlang::ConnectOptions;

use crate::{amqp::AmqpOptions, inside::NodeSession};

/// The node of a check, and the means to read it.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Erlang name of the node; its address if the name is unknown.
    pub node: String,
    /// Process identifier; `None` for a node on another machine.
    pub pid: Option<u32>,
    /// A connection into the node, or the reason against it.
    pub connect: Result<ConnectOptions, Unread>,
    /// A connection that is kept between checks; `None` for one of the check's own.
    pub session: Option<NodeSession>,
    /// An AMQP connection, if the user asks for one.
    pub amqp: Option<AmqpOptions>,
    /// Duration of the observation.
    pub duration: Duration,
    /// Samples per second on each CPU.
    pub frequency_hz: u32,
}

impl CheckOptions {
    /// Samples per second that cost a busy node less than a hundredth of its CPU time.
    pub const FREQUENCY_HZ: u32 = 199;
}
