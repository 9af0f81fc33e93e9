//! The state of a connection: phase, limits, packet identifiers, output and pings.

use std::{collections::VecDeque, time::Instant};

use rabbitscope_protocol::OutputBuffer;

use super::{
    assembly_state::Assembly, identifiers::Identifiers, keep_alive::KeepAlive, login::Login,
};
#[cfg(doc)]
use crate::event::Event;
use crate::{codec::LENGTH_MAX, protocol::version::Version};

/// Largest packet that is read as a whole, in bytes, as a frame of AMQP 0-9-1 by default. Larger messages are copied piece
/// by piece.
pub(super) const WHOLE_MAX: u32 = 128 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    AwaitAnswer,
    Open,
    Closed,
}

/// The reason for a ping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PingBy {
    KeepAlive,
    Caller,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) version: Version,
    /// Dropped with the answer to it.
    pub(super) login: Option<Box<Login>>,
    pub(super) phase: Phase,
    pub(super) output: OutputBuffer,
    pub(super) keep_alive: KeepAlive,
    pub(super) identifiers: Identifiers,
    /// Messages without an acknowledgement that the broker takes.
    pub(super) receive_maximum: u16,
    pub(super) topic_alias_maximum: u16,
    pub(super) maximum_packet_size: u32,
    /// Whether each alias, from 1, stands for a topic.
    pub(super) aliases: Vec<bool>,
    /// Pings without an answer, the oldest first.
    pub(super) pings: VecDeque<PingBy>,
    /// Filters of all subscriptions.
    pub(super) filters: Vec<String>,
    pub(super) assembly: Option<Box<Assembly>>,
}

impl Connection {
    /// Creates a connection at the start of its login, with `CONNECT` in the output. [`Event::Opened`] follows.
    pub fn new(login: Login, now: Instant) -> Self {
        let mut output = OutputBuffer::default();
        login.write(output.end());
        Self {
            version: login.version,
            phase: Phase::AwaitAnswer,
            output,
            keep_alive: KeepAlive::new(login.keep_alive(), now),
            identifiers: Identifiers::default(),
            receive_maximum: u16::MAX,
            topic_alias_maximum: 0,
            maximum_packet_size: u32::try_from(LENGTH_MAX).unwrap_or(u32::MAX),
            aliases: Vec::new(),
            pings: VecDeque::new(),
            filters: Vec::new(),
            assembly: None,
            login: Some(Box::new(login)),
        }
    }

    /// Returns the version of the protocol.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the largest packet that the broker takes, in bytes.
    pub fn maximum_packet_size(&self) -> u32 {
        self.maximum_packet_size
    }

    /// Returns the largest alias of a topic that the broker takes; 0 if it takes none.
    pub fn topic_alias_maximum(&self) -> u16 {
        self.topic_alias_maximum
    }

    /// Returns the number of messages with packet identifiers that may be sent now.
    #[inline]
    pub fn room(&self) -> u64 {
        self.receive_maximum.saturating_sub(self.identifiers.in_use()).into()
    }
}
