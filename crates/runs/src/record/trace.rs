//! The fate of single messages.

use serde::{Deserialize, Serialize};

/// A line of `trace.jsonl`: one message that was followed. Times are nanoseconds since the run began; events that did
/// not happen before the end are absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct TracedMessage {
    /// Number of the publisher, counted over all groups in the order of the scenario.
    pub publisher: u32,
    /// Number of the message within its publisher, from 0.
    pub sequence: u64,
    /// Time on the schedule; absent for publishers without one.
    pub intended_nanos: Option<u64>,
    /// Time at which the message was handed to the socket.
    pub sent_nanos: u64,
    /// Time at which its confirm was read.
    pub confirmed_nanos: Option<u64>,
    /// The broker refused it.
    pub refused: bool,
    /// Time at which its first delivery was read.
    pub delivered_nanos: Option<u64>,
    /// Number of deliveries.
    pub deliveries: u32,
    /// The broker marked one of the deliveries as redelivered.
    pub redelivered: bool,
}
