//! Frames by protocol and kind.

use serde::{Deserialize, Serialize};

/// One end of a connection.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The end that opened the connection.
    #[default]
    Client,
    /// The end that listens.
    Broker,
}

/// Frames of a kind from one side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FrameCount {
    /// The protocol's name, such as `AMQP 0-9-1`.
    pub protocol: String,
    /// The kind in the protocol's words, such as `basic.publish` or `header`.
    pub kind: String,
    /// The sender.
    pub from: Side,
    /// Number of frames.
    pub frames: u64,
    /// Bytes of the frames, including their headers.
    pub bytes: u64,
}
