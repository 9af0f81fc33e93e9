//! `rabbitscope packets`: packets and sockets of a broker, live or from a file.
//!
//! ```text
//! beside_load  like `live`, while a run puts load on the broker
//! live         ring, socket diagnosis and tracepoints of `probe` ─► analyzer of `wire`, for a time
//! sockets      the kernel's figures of sockets, over that time
//! recorded     packets of a file ─► analyzer
//! saved        packets that may be written ─► a pcapng file, with comments on those that findings rest on
//! text         the report for the terminal
//! ```
//!
//! `probe` captures packets, and `wire` interprets them.

mod beside_load;
mod live;
mod recorded;
mod saved;
mod sockets;
mod text;

pub(crate) use beside_load::{CaptureBesideLoad, CapturedPackets};
pub(crate) use live::{LiveOptions, capture};
pub(crate) use recorded::read;
pub(crate) use saved::SavedPackets;
pub(crate) use text::{source_name, summary};
