//! How messages are handed to the socket.

use serde::{Deserialize, Serialize};

/// How messages are handed to the socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteMode {
    /// All that may be sent now, in few calls.
    #[default]
    Batched,
    /// One call for each message, as the Java client does.
    PerMessage,
}
