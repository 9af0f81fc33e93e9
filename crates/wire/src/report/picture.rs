//! Data of pictures: sequence numbers against time, after Stevens and tcptrace, and the frames of a channel as a
//! ladder.

use serde::{Deserialize, Serialize};

use super::Side;

/// One direction of a connection, over a span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TimeSequence {
    /// `client -> broker`.
    pub connection: String,
    /// The sender of the data.
    pub from: Side,
    /// The reason for this connection and this span, in words.
    pub title: String,
    /// Start of the span, in nanoseconds since the first packet of the report.
    pub from_nanos: u64,
    /// End of the span.
    pub to_nanos: u64,
    /// Segments with data, in order of time.
    pub segments: Vec<PictureSegment>,
    /// Acknowledgements of the receiver, with the room in its window.
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
    /// Offset of its first byte in the direction.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// New or repeated.
    pub kind: SegmentKind,
    /// Number of its packet.
    pub packet: u64,
    /// The most informative of the frames that end in it, such as `basic.publish`; empty if none does.
    pub frame: String,
    /// Number of frames that end in it.
    pub frames: u32,
}

/// The bytes of a segment, by novelty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SegmentKind {
    /// New bytes.
    New,
    /// Bytes that were sent before.
    Retransmitted,
    /// New bytes that arrived after later bytes.
    OutOfOrder,
}

/// An acknowledgement and a window of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WindowPoint {
    /// Nanoseconds since the first packet of the report.
    pub nanos: u64,
    /// Offset up to which bytes are acknowledged.
    pub acknowledged: u64,
    /// Offset up to which the receiver has room; none if the scale of its windows is unknown.
    pub room: Option<u64>,
}

/// Frames of a channel, in order of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ladder {
    /// `client -> broker`.
    pub connection: String,
    /// Channel or session.
    pub channel: u32,
    /// The drawn frames.
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
    /// The sender.
    pub from: Side,
    /// Its kind, such as `basic.publish`, with header and bodies folded into it.
    pub label: String,
    /// Bytes, including those of the frames that are folded into it.
    pub bytes: u64,
    /// Number of its last packet.
    pub packet: u64,
    /// Nanoseconds since the frame that it answers; none if it answers none.
    pub answers_after_nanos: Option<u64>,
}
