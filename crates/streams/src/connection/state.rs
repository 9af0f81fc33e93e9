//! The state of a connection: phase, limits, publishers, output and heartbeats.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Instant,
};

use rabbitscope_protocol::{Heartbeat, OutputBuffer};

use super::{
    chunk::Chunk,
    frames::Frames,
    numbering::{Numbering, Run},
};
#[cfg(doc)]
use crate::event::Event;
use crate::protocol::codes::Code;

/// Size of frames before the negotiation, in bytes.
pub(super) const INITIAL_FRAME_MAX: u32 = 8 * 1024;

/// Largest frame that this client asks for, in bytes: RabbitMQ's own default. A reader keeps at most one in memory.
pub(super) const FRAME_MAX: u32 = 1024 * 1024;

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
    /// Name of the connection in the broker's management.
    pub name: String,
    /// Interval of heartbeats in seconds. 0 switches them off; absent: the server's.
    pub heartbeat_seconds: Option<u32>,
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
    AwaitProperties,
    AwaitMechanisms,
    AwaitAuthentication,
    AwaitTune,
    AwaitOpen,
    Open,
    Closing,
    Closed,
}

/// Answers and errors of a list that is read in parts.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Id of the publisher.
    pub(super) id: u8,
    /// Elements that have not been read.
    pub(super) left: u32,
    /// True for errors.
    pub(super) are_errors: bool,
    /// Messages of the last element that have not been told, and its reason if it is an error.
    pub(super) rest: VecDeque<Run>,
    pub(super) code: Code,
}

/// A publisher of this client. It has one stream, or the partitions of a super stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Publisher {
    pub(super) numbering: Numbering,
    /// Its ids in the protocol, one for each stream.
    pub(super) ids: Vec<u8>,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    pub(super) login: Box<Login>,
    pub(super) phase: Phase,
    pub(super) frame_max: u32,
    pub(super) output: OutputBuffer,
    pub(super) heartbeat: Heartbeat,
    /// Properties of the server and of the connection, such as `version`, `advertised_host` and `advertised_port`.
    pub(super) properties: BTreeMap<String, String>,
    /// Whether the server takes another token on an open connection.
    pub(super) can_renew: bool,
    /// Number of the login with another token, while it has no answer.
    pub(super) renewal: Option<u32>,
    /// Tokens that the server has taken, and nobody has asked for yet.
    pub(super) renewed: u64,
    /// Number of the last request.
    pub(super) correlation: u32,
    pub(super) publishers: Vec<Publisher>,
    /// By id: the publisher, and the place of the stream among its streams.
    pub(super) by_id: Vec<(u8, u8)>,
    /// Frames that take more messages, as long as nothing else is appended or written.
    pub(super) frames: Frames,
    pub(super) listed: Listed,
    pub(super) chunk: Option<Chunk>,
}

impl Connection {
    /// Creates a connection at the start of its handshake, with its first request in the output. [`Event::Opened`]
    /// follows.
    pub fn new(login: Login, now: Instant) -> Self {
        let mut connection = Self {
            login: Box::new(login),
            phase: Phase::AwaitProperties,
            frame_max: INITIAL_FRAME_MAX,
            output: OutputBuffer::default(),
            heartbeat: Heartbeat::new(now),
            properties: BTreeMap::new(),
            can_renew: false,
            renewal: None,
            renewed: 0,
            correlation: 0,
            publishers: Vec::new(),
            by_id: Vec::new(),
            frames: Frames::default(),
            listed: Listed::default(),
            chunk: None,
        };
        connection.introduce();
        connection
    }

    /// Returns whether the server is of this release or a later one.
    pub(crate) fn is_at_least(&self, release: (u32, u32)) -> bool {
        is_at_least(self.property("version").unwrap_or_default(), release)
    }

    /// Returns a property of the server or of the connection.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.get(name).map(String::as_str)
    }
}

/// Returns whether a version such as `3.11.2` is at least this one.
fn is_at_least(version: &str, least: (u32, u32)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let newer = ["3.11.0", "3.13.7", "4.0.5", "4.10.0-rc.1"];
        assert!(newer.iter().all(|version| is_at_least(version, (3, 11))));
        let older = ["3.10.8", "3.9.29", "", "x"];
        assert!(!older.iter().any(|version| is_at_least(version, (3, 11))));
    }
}
