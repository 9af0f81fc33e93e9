//! TCP connections: their bytes in order, and what their segments say about sender, receiver and path.
//!
//! ```text
//! connections  which connection a segment belongs to; bounded
//! connection   what one segment changes: acknowledgement, window, payload, in this order
//!  └ side      an end of a connection, as sender of bytes and as advertiser of windows
//!     ├ sequence      sequence numbers ─► places in a direction
//!     ├ reassembly    payloads ─► Chunk, Gap
//!     ├ round_trips   segments and acknowledgements ─► round trips
//!     ├ window        advertised windows, spans of zero window
//!     ├ pace          when the sender was busy, and when the receiver's window held it back
//!     └ stalls        Nagle's algorithm that waits for a delayed acknowledgement
//! observer     what is handed on while segments come: `TcpObserver`
//! figures      what is known of a connection at its end, or at any time
//! ```
//!
//! Everything is seen from where packets were captured. Near the sender, what is in flight is what the sender has sent;
//! near the receiver it is less. The words are those of tcptrace where it has them; the tests compare with it.
//!
//! Frames of protocols in the bytes are no matter of this folder.

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
