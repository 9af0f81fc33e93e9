//! TCP connections: their bytes in order, and the behaviour of sender, receiver and path.
//!
//! ```text
//! connections  assignment of segments to connections; bounded
//! connection   effect of one segment: acknowledgement, window, payload, in this order
//!  └ side      an end of a connection, as sender of bytes and as advertiser of windows
//!     ├ sequence      sequence numbers ─► places in a direction
//!     ├ reassembly    payloads ─► Chunk, Gap
//!     ├ round_trips   segments and acknowledgements ─► round trips
//!     ├ window        advertised windows, spans of zero window
//!     ├ pace          spans in which the sender was busy, or the receiver's window limited it
//!     └ stalls        waits of Nagle's algorithm for delayed acknowledgements
//! observer     events for the caller while segments come: `TcpObserver`
//! figures      figures of a connection, at its end or at any time
//! ```
//!
//! All figures are relative to the capture point. Near the sender, the bytes in flight are all that the sender has
//! sent; near the receiver they are fewer. Terms are those of tcptrace where it has them; the tests compare with it.
//!
//! Frames of protocols in the bytes are handled in `protocols`.

mod connection;
mod connections;
mod endpoints;
mod figures;
mod limits;
mod observer;
mod pace;
mod reassembly;
mod recency;
mod round_trips;
mod sequence;
mod side;
mod stalls;
mod window;

pub use connections::{ConnectionCounts, Connections};
pub use endpoints::{ConnectionId, Direction, Endpoints};
pub use figures::{
    ConnectionEnd, ConnectionSummary, DirectionFigures, PacketSizes, RoundTripFigures, WindowScale,
};
pub use limits::Limits;
pub use observer::{RoundTrip, SenderState, Span, Stall, TcpObserver, TracedSegment, ZeroWindow};
