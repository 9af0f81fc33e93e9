//! How much is written in a row.

/// Writes in a row before other connections are served. Chosen: 256 KiB.
pub(super) const WRITE_ROUNDS: u32 = 4;

/// Bytes encoded for one write, at most. Large enough to make the write cheap. Small enough that
/// the time of sending, which is taken once for each write, is true for all of its messages, and
/// that it fits into one segment on loopback (65,483 bytes = 65,535 of an IP packet − 20 of IP − 32
/// of TCP with time stamps): a few bytes more are a second segment with all its cost.
pub(super) const CHUNK: usize = 65_483;
