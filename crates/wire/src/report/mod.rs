//! The packet report of a broker: the content of `packets.json`, and the source of pages and tables.
//!
//! This folder contains only types. `analyzer` fills them, and the rules in `findings` read them.

mod connection;
mod ends;
mod event;
mod finding;
mod frames;
mod latency;
mod messages;
mod picture;
mod sizes;
mod sources;
mod whole;

pub use connection::{ConnectionReport, DirectionReport, LimitShares, RoundTrips};
pub use ends::is_within_machine;
pub use event::{ConnectionEvent, EventKind};
pub use finding::{Finding, FindingRule, NotJudged, Severity};
pub use frames::{FrameCount, Side};
pub use latency::{LatencyKind, LatencyReport, Unmatched};
pub use messages::MessageFigures;
pub use picture::{Ladder, LadderFrame, PictureSegment, SegmentKind, TimeSequence, WindowPoint};
pub use sizes::{SIZE_BINS, SizeBin};
pub use sources::{CaptureReport, LeftOut, SocketReport, Source, SourceLevel, WriteSizes};
pub use whole::{FORMAT_VERSION, PacketReport, Totals, ZeroWindowTime};
