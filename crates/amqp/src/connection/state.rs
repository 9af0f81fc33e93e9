//! The state of a connection: phase, channels, limits, output and heartbeats.

use std::time::{Duration, Instant};

use rabbitscope_protocol::{Heartbeat, OutputBuffer};

use super::assembly_state::Assembly;
#[cfg(doc)]
use crate::event::Event;
use crate::{error::ConnectionError, protocol::frames::PROTOCOL_HEADER, table::Table, uri::Uri};

/// Limits that client and broker agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest channel number.
    pub channel_max: u16,
    /// Largest frame in bytes, overhead included.
    pub frame_max: u32,
    /// Heartbeat interval; `None` without heartbeats.
    pub heartbeat: Option<Duration>,
}

/// Limits before the negotiation: RabbitMQ's defaults. `connection.start` and `connection.tune` are far smaller.
pub(super) const INITIAL_LIMITS: Limits =
    Limits { channel_max: 2047, frame_max: 131_072, heartbeat: None };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    AwaitStart,
    AwaitTune,
    AwaitOpenOk,
    Open,
    Closing,
    Closed,
}

#[derive(Debug, Default)]
pub(super) struct Channel {
    pub(super) phase: ChannelPhase,
    pub(super) assembly: Option<Box<Assembly>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ChannelPhase {
    #[default]
    Closed,
    Opening,
    Open,
    Closing,
}

/// The client's identity in the handshake.
#[derive(Debug)]
pub(super) struct ClientIdentity {
    pub(super) uri: Uri,
    pub(super) name: String,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) identity: Box<ClientIdentity>,
    pub(super) phase: Phase,
    pub(super) limits: Limits,
    pub(super) channels: Vec<Channel>,
    pub(super) output: OutputBuffer,
    pub(super) server_properties: Table,
    /// True if the broker takes a new token on an open connection.
    pub(super) can_renew: bool,
    /// Tokens that the broker has taken, and nobody has asked for yet.
    pub(super) renewed: u64,
    pub(super) heartbeat: Heartbeat,
}

impl Connection {
    /// Creates a connection at the start of its handshake, with the protocol header in the output. The broker's
    /// management interface shows `name`.
    pub fn new(uri: &Uri, name: &str, now: Instant) -> Self {
        let mut output = OutputBuffer::default();
        output.end().extend_from_slice(&PROTOCOL_HEADER);
        Self {
            identity: Box::new(ClientIdentity { uri: uri.clone(), name: name.to_owned() }),
            phase: Phase::AwaitStart,
            limits: INITIAL_LIMITS,
            channels: Vec::new(),
            output,
            server_properties: Table::default(),
            can_renew: false,
            renewed: 0,
            heartbeat: Heartbeat::new(now),
        }
    }

    /// Returns the negotiated limits; valid after [`Event::Opened`].
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the broker's properties: `product`, `version`, `platform`, `cluster_name`, ….
    pub fn server_properties(&self) -> &Table {
        &self.server_properties
    }

    pub(super) fn channel(
        &mut self,
        channel: u16,
        frame: &'static str,
    ) -> Result<&mut Channel, ConnectionError> {
        let state = self.channels.get_mut(usize::from(channel));
        state.ok_or(ConnectionError::Unexpected { what: frame, channel })
    }
}
