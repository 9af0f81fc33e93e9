//! `rabbitscope packets`: packets and sockets of a broker, live or from a file.
//!
//! ```text
//! beside_load  like `live`, while a run puts load on the broker
//! live         ring, socket diagnosis and tracepoints of `probe` ─► analyzer of `wire`, for a time
//! sockets      the kernel's figures of sockets, over that time
//! pace         intervals between looks at sockets, longer where looks cost more
//! ports        ports on which the broker listens, and from which it connects
//! recorded     packets of a file ─► analyzer
//! saved        packets that may be written ─► a pcapng file, with comments on those that findings rest on
//! text         the report for the terminal
//! ```
//!
//! `probe` captures packets, and `wire` interprets them. Elsewhere: the load, and the files of a run.

mod beside_load;
mod live;
mod pace;
mod ports;
mod recorded;
mod saved;
mod sockets;
mod text;

pub use beside_load::{CaptureBesideLoad, CapturedPackets};
pub use live::{LiveCapture, LiveOptions, capture, capture_listening};
pub use ports::BrokerPorts;
pub use recorded::{read, read_listening};
pub use saved::SavedPackets;
pub use text::{source_name, summary};
