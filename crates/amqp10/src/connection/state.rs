//! The state of a connection: phase, limits, sessions, output and heartbeats.

use std::{collections::BTreeMap, time::Instant};

use rabbitscope_protocol::{Heartbeat, OutputBuffer, Renewals};

use super::lane::Lane;
#[cfg(doc)]
use crate::event::Event;
use crate::{address::Addressing, protocol::codes::SASL_HEADER};

/// Largest frame that this client reads, in bytes: RabbitMQ's own default.
pub(super) const FRAME_MAX: u32 = 128 * 1024;

/// Smallest limit of frames that the specification permits, in bytes. It holds during the login, too.
pub(super) const LEAST_FRAME_MAX: u32 = 512;

/// The broker's default for the silence of a connection, in seconds.
const HEARTBEAT_SECONDS: u32 = 60;

/// The way of proving who the client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// By user and password.
    #[default]
    Plain,
    /// By the certificate of the TLS connection.
    External,
    /// Not at all: as the user that the broker has for this.
    Anonymous,
}

/// The client's identity in the handshake.
#[derive(Clone)]
pub struct Login {
    /// User.
    pub user: String,
    /// Password, or an `OAuth2` token.
    pub password: String,
    /// Virtual host.
    pub vhost: String,
    /// The way of proving who the client is.
    pub mechanism: Mechanism,
    /// Name of the connection in the broker's management: the `container-id`.
    pub name: String,
    /// Interval of heartbeats in seconds. 0: none are expected; absent: 60.
    pub heartbeat_seconds: Option<u32>,
    /// Number of sessions with a member.
    pub sessions: u16,
}

impl Login {
    /// Returns the interval of heartbeats that the broker must keep, in seconds; `None` without.
    pub(super) fn idle_seconds(&self) -> Option<u32> {
        Some(self.heartbeat_seconds.unwrap_or(HEARTBEAT_SECONDS)).filter(|seconds| *seconds > 0)
    }
}

/// Hides the password.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .field("vhost", &self.vhost)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    AwaitSaslHeader,
    AwaitMechanisms,
    AwaitOutcome,
    AwaitHeader,
    AwaitOpen,
    Open,
    Closing,
    Closed,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) login: Box<Login>,
    pub(super) phase: Phase,
    /// Largest frame that the broker reads.
    pub(super) frame_max: u32,
    /// Largest number of a session that both sides have.
    pub(super) channel_max: u16,
    pub(super) output: OutputBuffer,
    pub(super) heartbeat: Heartbeat,
    /// Answers to new tokens that nobody has asked for yet.
    pub(super) renewals: Renewals,
    pub(super) addressing: Addressing,
    /// First two numbers of the broker's version; zeros until it has told them.
    pub(super) release: (u32, u32),
    /// Properties of the broker that are texts, such as `version`, during the set-up.
    pub(super) properties: BTreeMap<String, String>,
    /// By the numbers of this client's channels.
    pub(super) lanes: Vec<Option<Lane>>,
    /// By the numbers of the broker's channels.
    pub(super) lane_of_channel: Vec<Option<u16>>,
}

impl Connection {
    /// Creates a connection at the start of its login, with the first bytes in the output. [`Event::Opened`] follows.
    pub fn new(login: Login, now: Instant) -> Self {
        let mut output = OutputBuffer::default();
        output.end().extend_from_slice(&SASL_HEADER);
        Self {
            // One more than those of the members is for new tokens.
            channel_max: login.sessions,
            login: Box::new(login),
            phase: Phase::AwaitSaslHeader,
            frame_max: LEAST_FRAME_MAX,
            output,
            heartbeat: Heartbeat::new(now),
            renewals: Renewals::default(),
            addressing: Addressing::default(),
            release: (0, 0),
            properties: BTreeMap::new(),
            lanes: Vec::new(),
            lane_of_channel: Vec::new(),
        }
    }

    /// Returns a property of the broker that is a text.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }

    /// Returns the form of addresses that the broker prefers, by its version.
    pub fn addressing(&self) -> Addressing {
        self.addressing
    }

    /// Returns the number of sessions that both sides permit.
    pub fn sessions_max(&self) -> u32 {
        u32::from(self.channel_max) + 1
    }

    /// Returns the largest frame that may be sent, in bytes.
    pub fn sent_frame_max(&self) -> u32 {
        self.frame_max
    }

    #[inline]
    pub(super) fn lane(&self, lane: u16) -> Option<&Lane> {
        self.lanes.get(usize::from(lane))?.as_ref()
    }

    #[inline]
    pub(super) fn lane_mut(&mut self, lane: u16) -> Option<&mut Lane> {
        self.lanes.get_mut(usize::from(lane))?.as_mut()
    }
}
