//! The fate of single messages.

use serde::{Deserialize, Serialize};

/// A line of `trace.jsonl`: one message that was followed. Times are nanoseconds since the run began;
/// what did not happen before the end is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct TracedMessage {
    /// Number of the publisher, counted over all groups in the order of the scenario.
    pub publisher: u32,
    /// Number of the message with its publisher, from 0.
    pub sequence: u64,
    /// When the schedule asked for it; absent for publishers without one.
    pub intended_nanos: Option<u64>,
    /// When it was handed to the socket.
    pub sent_nanos: u64,
    /// When its confirm was read.
    pub confirmed_nanos: Option<u64>,
    /// The broker refused it.
    pub refused: bool,
    /// When its first delivery was read.
    pub delivered_nanos: Option<u64>,
    /// How often it was delivered.
    pub deliveries: u32,
    /// The broker marked one of the deliveries as redelivered.
    pub redelivered: bool,
}
