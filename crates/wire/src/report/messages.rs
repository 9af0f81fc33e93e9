//! Messages of a connection, and how they were put into segments.

use serde::{Deserialize, Serialize};

/// Messages of a connection. Of protocols without a word for something it is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MessageFigures {
    /// Messages from the client.
    pub published: u64,
    /// Segments from the client that had a publish or part of it.
    pub publish_segments: u64,
    /// Publishes of which method, header and body began a segment each.
    pub frame_by_frame: u64,
    /// Packets of the first such publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frame_by_frame_packets: Vec<u64>,
    /// Confirms from the broker.
    pub confirms: u64,
    /// Of those, for several messages at once.
    pub multiple_confirms: u64,
    /// Most messages of a channel that were published and not confirmed.
    pub max_unconfirmed: u64,
    /// Messages to the client.
    pub delivered: u64,
    /// Segments from the broker that had a delivery or part of it.
    pub delivery_segments: u64,
    /// Acknowledgements from the client.
    pub acks: u64,
    /// Of those, for several messages at once.
    pub multiple_acks: u64,
    /// Segments from the client that had an acknowledgement.
    pub ack_segments: u64,
    /// Packets of the first segments with a single acknowledgement and nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lone_ack_packets: Vec<u64>,
    /// Most messages of a channel that were delivered and not acknowledged.
    pub max_unacknowledged: u64,
}
