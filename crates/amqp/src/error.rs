//! Errors of a connection. Everything that the peer sends ends in a value, never in a panic.

use thiserror::Error;

use crate::protocol::reply_codes;

/// Bytes that violate the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

/// The broker's reason for closing a channel or a connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct Refusal {
    /// Reply code, such as 404.
    pub code: u16,
    /// Reply text, such as `NOT_FOUND - no queue 'q' in vhost '/'`.
    pub text: String,
    /// Class of the method at fault, 0 if there is none.
    pub class_id: u16,
    /// Method at fault, 0 if there is none.
    pub method_id: u16,
}

impl Refusal {
    /// 404: the queue or exchange does not exist.
    pub fn is_not_found(&self) -> bool {
        self.code == reply_codes::NOT_FOUND
    }
}

/// The end of a connection, which is unusable from then on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The peer does not speak AMQP 0-9-1; RabbitMQ answers other versions like this.
    #[error("the broker speaks AMQP {major}-{minor}-{revision}, not 0-9-1")]
    Version {
        /// Major version.
        major: u8,
        /// Minor version.
        minor: u8,
        /// Revision.
        revision: u8,
    },
    /// A frame above the negotiated limit, or a peer that does not speak AMQP.
    #[error("the other side sent a frame of {size} bytes; the limit is {limit}: is this AMQP?")]
    FrameTooLarge {
        /// Size of the payload in bytes.
        size: u32,
        /// Negotiated limit in bytes.
        limit: u32,
    },
    /// A frame of unknown type.
    #[error("the other side sent a frame of the unknown type {0}: is this AMQP?")]
    FrameType(u8),
    /// The octet behind a frame is not 0xCE.
    #[error("the other side sent a frame that ends in {0:#04x} instead of 0xce")]
    FrameEnd(u8),
    /// A frame has invalid contents.
    #[error("the other side sent a malformed {frame}: {reason}")]
    Malformed {
        /// Kind of frame.
        frame: &'static str,
        /// Violation of the format.
        reason: &'static str,
    },
    /// A method that does not exist or that only clients send.
    #[error("the other side sent the unknown method {class_id}.{method_id}")]
    UnknownMethod {
        /// Class id.
        class_id: u16,
        /// Method id.
        method_id: u16,
    },
    /// A valid method or frame that is not allowed in the current state.
    #[error("the other side sent {what} on channel {channel}, where it is not allowed")]
    Unexpected {
        /// The method or frame.
        what: &'static str,
        /// Channel number.
        channel: u16,
    },
    /// The broker does not offer the configured authentication mechanism.
    #[error("the broker offers the login mechanisms `{offered}`, not {wanted}")]
    Mechanism {
        /// The configured mechanism.
        wanted: &'static str,
        /// Mechanisms on offer.
        offered: String,
    },
    /// The broker refuses user or password.
    #[error("the broker refuses user and password: {0}")]
    AuthenticationRefused(Refusal),
    /// The virtual host does not exist or is not permitted.
    #[error("the broker refuses the virtual host: {0}")]
    VhostRefused(Refusal),
    /// The broker closed the connection.
    #[error("the broker closed the connection: {0}")]
    ClosedByBroker(Refusal),
    /// Nothing was received for two heartbeat intervals.
    #[error("the broker sent nothing for {seconds} s (two heartbeat intervals)")]
    HeartbeatMissed {
        /// Length of two heartbeat intervals.
        seconds: u64,
    },
    /// No channel number is free.
    #[error("all {limit} channels of the connection are in use")]
    NoFreeChannel {
        /// Negotiated limit of channels.
        limit: u16,
    },
}

impl ConnectionError {
    pub(crate) fn method(error: Malformed) -> Self {
        Self::Malformed { frame: "method", reason: error.0 }
    }

    pub(crate) fn header(error: Malformed) -> Self {
        Self::Malformed { frame: "content header", reason: error.0 }
    }
}
