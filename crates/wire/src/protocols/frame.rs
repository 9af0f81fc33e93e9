//! A frame: which protocol's, what it is called there, and where it stands.
//!
//! What is read of its contents is in `details`.

use serde::{Deserialize, Serialize};

use super::details::Details;
use crate::{packet::Timestamp, report::Side};

/// The other end of a connection.
pub const fn peer_of(side: Side) -> Side {
    match side {
        Side::Client => Side::Broker,
        Side::Broker => Side::Client,
    }
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// AMQP 0-9-1 with RabbitMQ's extensions, and 0-8 and 0-9, whose frames are the same.
    #[serde(rename = "amqp-0-9-1")]
    Amqp091,
    /// AMQP 1.0 with its SASL layer.
    #[serde(rename = "amqp-1-0")]
    Amqp10,
    /// RabbitMQ's stream protocol.
    RabbitmqStream,
    /// MQTT 3.1, 3.1.1 or 5.
    Mqtt,
    /// TLS; what it carries is hidden.
    Tls,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Amqp091, Self::Amqp10, Self::RabbitmqStream, Self::Mqtt, Self::Tls];

    /// Its name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amqp091 => "AMQP 0-9-1",
            Self::Amqp10 => "AMQP 1.0",
            Self::RabbitmqStream => "stream protocol",
            Self::Mqtt => "MQTT",
            Self::Tls => "TLS",
        }
    }

    /// Whether frames of the protocol inside are hidden.
    pub const fn is_encrypted(self) -> bool {
        matches!(self, Self::Tls)
    }
}

/// Where a frame stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Place of its first byte in the direction, as [`crate::stream::Chunk::offset`].
    pub start: u64,
    /// Place after its last byte.
    pub end: u64,
    /// Number of the packet that brought its first byte.
    pub first_packet: u64,
    /// Number of the packet that brought its last byte.
    pub last_packet: u64,
    /// Whether it begins where its first packet's payload begins.
    pub begins_segment: bool,
    /// Whether it ends where its last packet's payload ends.
    pub ends_segment: bool,
    /// When its last byte could be read.
    pub time: Timestamp,
    /// How many of its bytes were not captured. They lie in what is skipped: mostly in a body.
    pub missing_bytes: u64,
}

impl Place {
    /// Length of the frame in bytes, as sent.
    pub const fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Numbers that follow each other without a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifierRun {
    /// The first.
    pub first: u64,
    /// How many, at least one.
    pub count: u64,
}

/// What a frame says of its sender's mind: a code, a text or both. Texts are foreign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The protocol's code.
    pub code: Option<u32>,
    /// The text, at most 255 bytes of it.
    pub text: &'a [u8],
    /// Class and method of AMQP 0-9-1 to which a close answers.
    pub cause: Option<(u16, u16)>,
}

/// A frame, a record of TLS or a packet of MQTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// Who sent it.
    pub sender: Side,
    /// Its protocol.
    pub protocol: Protocol,
    /// The channel of AMQP; otherwise 0.
    pub channel: u16,
    /// What it is, in the protocol's own words: `basic.publish`, `header`, `transfer`, `PUBACK`.
    pub kind: &'static str,
    /// Where it stands.
    pub place: Place,
    /// What was read of its contents.
    pub details: Details,
    /// Publishing ids of the stream protocol, in their order; runs beyond 4,096 are left out, and counted by
    /// [`super::StreamPublish::left_out`].
    pub identifiers: &'a [IdentifierRun],
    /// Code and text of a frame that has them: of a close, a return, a refusal, an error.
    pub reply: Option<Reply<'a>>,
}
