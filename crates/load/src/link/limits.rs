//! How much is written in a row.

use rabbitscope_runs::scenario::WriteMode;

/// Writes in a row before other connections are served. Chosen: 256 KiB.
const WRITE_ROUNDS: u32 = 4;

/// Messages in a row with a write for each, before other connections are served. As many as a batch
/// has.
const SINGLE_WRITES: u32 = 64;

/// Writes in a row before other connections are served.
pub(super) fn write_rounds(write: WriteMode) -> u32 {
    if write == WriteMode::Batched { WRITE_ROUNDS } else { SINGLE_WRITES }
}

/// Bytes encoded for one write, at most. Large enough to make the write cheap. Small enough that
/// the time of sending, which is taken once for each write, is true for all of its messages, and
/// that it fits into one segment on loopback (65,483 bytes = 65,535 of an IP packet − 20 of IP − 32
/// of TCP with time stamps): a few bytes more are a second segment with all its cost.
pub(super) const CHUNK: usize = 65_483;
