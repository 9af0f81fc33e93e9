//! Errors that end a connection, and refusals that end a session.

use std::fmt;

use rabbitscope_protocol::Malformed;
use thiserror::Error;

/// The broker's reason for the end of a link, a session or the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Its symbol, such as `amqp:not-found`. Empty if the broker gave no reason.
    pub condition: String,
    /// The reason in words.
    pub description: String,
}

impl Refusal {
    /// The user lacks a permission, or the login has expired.
    pub const UNAUTHORIZED: &str = "amqp:unauthorized-access";
    /// There is no such queue or exchange.
    pub const NOT_FOUND: &str = "amqp:not-found";
    /// The queue was deleted.
    pub const DELETED: &str = "amqp:resource-deleted";
}

/// Most characters of a reason that are shown. Chosen: the plugin of 3.x describes its own faults on 25 lines.
const SHOWN: usize = 300;

/// Shows the begin of the reason, on one line.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.description.split_whitespace().collect();
        let line = words.join(" ");
        let description = line.char_indices().nth(SHOWN).map_or(&line[..], |(end, _)| &line[..end]);
        match (self.condition.as_str(), description) {
            ("", "") => f.write_str("no reason given"),
            (condition, "") => f.write_str(condition),
            ("", description) => f.write_str(description),
            (condition, description) => write!(f, "{condition}, {description}"),
        }
    }
}

/// An error that ends a connection.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// Bytes that do not follow the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The broker does not speak AMQP 1.0.
    #[error("the answer to AMQP 1.0 is {}", .0.escape_ascii())]
    OtherProtocol([u8; 8]),
    /// A frame that exceeds the agreed size.
    #[error("the broker sent a frame of {size} bytes, and {limit} were agreed")]
    FrameTooLarge {
        /// Size of the frame.
        size: u32,
        /// Agreed limit.
        limit: u32,
    },
    /// A message that exceeds the limit of this client.
    #[error("the broker sent a message of more than {limit} bytes")]
    MessageTooLarge {
        /// The limit.
        limit: usize,
    },
    /// A frame that this client did not expect.
    #[error("the broker sent the performative {code:#04x}, which was not expected")]
    Unexpected {
        /// Code of its descriptor.
        code: u64,
    },
    /// An outcome of a message that was not sent.
    #[error("the broker settled delivery {delivery_id} of session {lane}, which was not sent")]
    UnknownMessage {
        /// The session.
        lane: u16,
        /// Number of the delivery.
        delivery_id: u32,
    },
    /// The broker does not offer the mechanism of the login.
    #[error("the broker offers the logins {offered}, not {wanted}")]
    Mechanism {
        /// Mechanism of the login.
        wanted: &'static str,
        /// Mechanisms that the broker offers.
        offered: String,
    },
    /// The broker refused the login.
    #[error("the broker refused the login with SASL code {code}")]
    LoginRefused {
        /// Code of the outcome.
        code: u8,
    },
    /// The broker closed the connection.
    #[error("the broker closed the connection: {0}")]
    ClosedByBroker(Refusal),
    /// Nothing was received for two heartbeat intervals.
    #[error("the broker sent nothing for {seconds} s (two heartbeat intervals)")]
    HeartbeatMissed {
        /// Length of two heartbeat intervals.
        seconds: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line() {
        let check = |description: &str, expected: &str| {
            let condition = "amqp:internal-error".to_owned();
            let refusal = Refusal { condition, description: description.to_owned() };
            assert_eq!(refusal.to_string(), expected);
        };
        check("", "amqp:internal-error");
        check("error: {a,\n      b}", "amqp:internal-error, error: {a, b}");
        let long = "ü".repeat(400);
        check(&long, &format!("amqp:internal-error, {}", "ü".repeat(300)));
    }
}
