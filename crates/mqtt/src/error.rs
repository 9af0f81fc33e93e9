//! Errors that end a connection.

use rabbitscope_protocol::Malformed;
use thiserror::Error;

use crate::protocol::{reason::Reason, version::Version};

/// An error that ends a connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Bytes that do not follow the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A packet without a message that is larger than any of its kind.
    #[error(
        "the broker sent a packet of {size} bytes without a message, and {limit} are permitted"
    )]
    PacketTooLarge {
        /// Bytes of the packet.
        size: usize,
        /// Largest permitted size.
        limit: usize,
    },
    /// A packet that this client did not expect.
    #[error("the broker sent a packet that begins with {first:#04x}, which was not expected")]
    Unexpected {
        /// First byte of the packet.
        first: u8,
    },
    /// An acknowledgement of a packet that was not sent, or is acknowledged already.
    #[error("the broker acknowledged packet {packet}, which is not outstanding")]
    UnknownPacket {
        /// Identifier of the packet.
        packet: u16,
    },
    /// The broker closed the socket instead of answering `CONNECT`.
    #[error(
        "the broker does not speak {0}, which RabbitMQ has since 3.13: it closed the connection without an answer"
    )]
    VersionUnknown(Version),
    /// The broker refused the login.
    #[error("the broker refused the login: {0}")]
    LoginRefused(Reason),
    /// The broker ended the connection.
    #[error("the broker closed the connection: {reason}{}", .text.as_ref().map(|text| format!(", {text}")).unwrap_or_default())]
    ClosedByBroker {
        /// The reason.
        reason: Reason,
        /// The reason in the broker's words.
        text: Option<String>,
    },
    /// The broker did not answer a ping.
    #[error("the broker did not answer a ping for {seconds} s ({INTERVALS} intervals of keep-alive)", INTERVALS = crate::connection::PATIENCE)]
    PingUnanswered {
        /// Time since the ping.
        seconds: u64,
    },
}
