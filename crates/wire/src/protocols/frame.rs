//! A frame: its protocol, kind and position.
//!
//! For its contents see `details`.

use serde::{Deserialize, Serialize};

use super::details::Details;
use crate::{packet::Timestamp, report::Side};

/// Returns the other end of a connection.
pub const fn peer_of(side: Side) -> Side {
    match side {
        Side::Client => Side::Broker,
        Side::Broker => Side::Client,
    }
}

/// The protocol of a connection.
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
    /// TLS; its content is hidden.
    Tls,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 5] =
        [Self::Amqp091, Self::Amqp10, Self::RabbitmqStream, Self::Mqtt, Self::Tls];

    /// Returns the name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amqp091 => "AMQP 0-9-1",
            Self::Amqp10 => "AMQP 1.0",
            Self::RabbitmqStream => "stream protocol",
            Self::Mqtt => "MQTT",
            Self::Tls => "TLS",
        }
    }

    /// Returns whether the protocol hides the frames inside it.
    pub const fn is_encrypted(self) -> bool {
        matches!(self, Self::Tls)
    }
}

/// The position of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Offset of its first byte in the direction, as [`crate::stream::Chunk::offset`].
    pub start: u64,
    /// Offset after its last byte.
    pub end: u64,
    /// Number of the packet that brought its first byte.
    pub first_packet: u64,
    /// Number of the packet that brought its last byte.
    pub last_packet: u64,
    /// True if it begins where its first packet's payload begins.
    pub begins_segment: bool,
    /// True if it ends where its last packet's payload ends.
    pub ends_segment: bool,
    /// Time at which its last byte could be read.
    pub time: Timestamp,
    /// Number of its bytes that were not captured. They lie in a skipped part: mostly in a body.
    pub missing_bytes: u64,
}

impl Place {
    /// Returns the length of the frame in bytes, as sent.
    pub const fn bytes(&self) -> u64 {
        self.end - self.start
    }
}

/// Consecutive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifierRun {
    /// The first.
    pub first: u64,
    /// The count, at least one.
    pub count: u64,
}

/// A code, a text or both that a frame reports. Texts come from the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The protocol's code.
    pub code: Option<u32>,
    /// The text, at most 255 bytes of it.
    pub text: &'a [u8],
    /// Class and method of AMQP 0-9-1 that caused a close.
    pub cause: Option<(u16, u16)>,
}

/// A frame, a TLS record or an MQTT packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// The sender.
    pub sender: Side,
    /// Its protocol.
    pub protocol: Protocol,
    /// The channel of AMQP; otherwise 0.
    pub channel: u16,
    /// Its kind, in the protocol's own words: `basic.publish`, `header`, `transfer`, `PUBACK`.
    pub kind: &'static str,
    /// Its position.
    pub place: Place,
    /// Its contents.
    pub details: Details,
    /// Publishing ids of the stream protocol, in their order. Runs beyond 4,096 are left out, and counted by
    /// [`super::StreamPublish::left_out`].
    pub identifiers: &'a [IdentifierRun],
    /// Code and text of a close, a return, a refusal or an error.
    pub reply: Option<Reply<'a>>,
    /// The beginning of a method's arguments or of a content header's payload, or a client's properties without its
    /// credentials: at most 4,096 bytes. Of MQTT: of a PUBLISH the topic behind its length, then properties; of a
    /// SUBSCRIBE the filters; of a CONNECT level, flags, receive maximum, a byte that is 1 if the session outlives the
    /// connection, client id. Of AMQP 1.0: the fields of a performative; of a transfer address and subject of the message,
    /// each behind a number and its length. Of streams: the arguments behind the correlation; of a `publish` up to 4,096
    /// runs of equal entries. Empty unless [`super::Conversation::keep_arguments`] was called, in frames of other
    /// protocols, and in the first frames after a search.
    pub arguments: &'a [u8],
}
