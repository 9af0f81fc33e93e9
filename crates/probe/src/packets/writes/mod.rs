//! Sizes of the writes and reads of a node on TCP sockets, counted in the kernel by an eBPF program
//! (`bpf/writes.bpf.c`) at the tracepoints `sock_send_length` and `sock_recv_length`. Nothing of the content is read.
//!
//! A write is what the program handed to the kernel in one call. The kernel makes segments of writes by itself, so that
//! many writes may be one segment, and one write many. [`counter`] loads and attaches the program, [`counts`] gives
//! the counts their meaning.

mod counter;
mod counts;

pub use counter::WriteCounter;
pub(super) use counter::{has_tracepoints, may_load};
pub use counts::{SizeBucket, WriteCounts, WriteDirection};
