//! What is drawn: sequence numbers against time, after Stevens and tcptrace, and the frames of a channel as a ladder.

use serde::{Deserialize, Serialize};

use super::Side;

/// One direction of a connection, over a span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TimeSequence {
    /// `client -> broker`.
    pub connection: String,
    /// Who sent the data.
    pub from: Side,
    /// Why this connection and this span, in words.
    pub title: String,
    /// The span, in nanoseconds since the first packet of the report.
    pub from_nanos: u64,
    /// Its end.
    pub to_nanos: u64,
    /// Segments with data, in the order of time.
    pub segments: Vec<PictureSegment>,
    /// What the receiver had acknowledged, and up to where it had room.
    pub windows: Vec<WindowPoint>,
    /// Segments of the span that are not drawn, because there are too many.
    pub left_out: u64,
}

/// A segment with data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PictureSegment {
    /// Nanoseconds since the first packet of the report.
    pub nanos: u64,
    /// Place of its first byte in the direction.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// New or repeated.
    pub kind: SegmentKind,
    /// Number of its packet.
    pub packet: u64,
    /// Of the frames that end in it, the one that says most, such as `basic.publish`; empty where none does.
    pub frame: String,
    /// Frames that end in it.
    pub frames: u32,
}

/// What a segment brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// New bytes.
    New,
    /// Bytes that were sent before.
    Retransmitted,
    /// New bytes that came before others that precede them.
    OutOfOrder,
}

/// What the receiver said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WindowPoint {
    /// Nanoseconds since the first packet of the report.
    pub nanos: u64,
    /// Place up to which bytes are acknowledged.
    pub acknowledged: u64,
    /// Place up to which the receiver has room; none where the scale of its windows is not known.
    pub room: Option<u64>,
}

/// Frames of a channel, in the order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ladder {
    /// `client -> broker`.
    pub connection: String,
    /// Channel or session.
    pub channel: u32,
    /// The frames, as many as are drawn.
    pub frames: Vec<LadderFrame>,
    /// Frames of the channel that are not drawn.
    pub left_out: u64,
}

/// A rung.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LadderFrame {
    /// Nanoseconds since the first packet of the report.
    pub nanos: u64,
    /// Who sent it.
    pub from: Side,
    /// What it is, such as `basic.publish`, with header and bodies folded into it.
    pub label: String,
    /// Bytes with the frames that are folded into it.
    pub bytes: u64,
    /// Number of its last packet.
    pub packet: u64,
    /// How long after the frame that it answers, in nanoseconds; none where it answers none.
    pub answers_after_nanos: Option<u64>,
}
