//! Sizes of the writes and reads of a node on TCP sockets. An eBPF program (`bpf/writes.bpf.c`) counts them in the
//! kernel at the tracepoints `sock_send_length` and `sock_recv_length`, without reading content.
//!
//! A write is the data that the program passes to the kernel in one call. The kernel makes segments of writes by
//! itself: many writes may be one segment, and one write many. [`counter`] loads and attaches the program,
//! [`counts`] interprets the counts.

mod counter;
mod counts;

pub use counter::WriteCounter;
pub(super) use counter::{has_tracepoints, may_load};
pub use counts::{SizeBucket, WriteCounts, WriteDirection};
