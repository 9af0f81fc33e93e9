//! Errors that end a connection.

use rabbitscope_protocol::Malformed;
use thiserror::Error;

use crate::protocol::codes::Code;

/// An error that ends a connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Bytes that do not follow the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A frame that exceeds the agreed size.
    #[error("the broker sent a frame of {size} bytes, and {limit} were agreed")]
    FrameTooLarge {
        /// Size of the frame.
        size: u32,
        /// Agreed limit.
        limit: u32,
    },
    /// A command that this client did not expect.
    #[error("the broker sent the command {key:#06x}, which was not expected")]
    Unexpected {
        /// Key of the command.
        key: u16,
    },
    /// A confirm or an error of a message that was not sent.
    #[error("the broker confirmed message {number} of publisher {publisher}, which was not sent")]
    UnknownMessage {
        /// Number of the publisher.
        publisher: u8,
        /// Number of the message.
        number: u64,
    },
    /// The server does not offer the mechanism of the login.
    #[error("the broker offers the logins {offered}, not {wanted}")]
    Mechanism {
        /// Mechanism of the login.
        wanted: &'static str,
        /// Mechanisms that the server offers.
        offered: String,
    },
    /// The server refused the login.
    #[error("the broker refused the login: {0}")]
    LoginRefused(Code),
    /// The server refused the virtual host.
    #[error("the broker refused the virtual host: {0}")]
    VhostRefused(Code),
    /// The server closed the connection.
    #[error("the broker closed the connection: {code}, {reason}")]
    ClosedByBroker {
        /// Code of the reason.
        code: Code,
        /// The reason in words.
        reason: String,
    },
    /// Nothing was received for two heartbeat intervals.
    #[error("the broker sent nothing for {seconds} s (two heartbeat intervals)")]
    HeartbeatMissed {
        /// Length of two heartbeat intervals.
        seconds: u64,
    },
}
