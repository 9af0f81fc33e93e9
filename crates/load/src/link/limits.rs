//! Limits of the writes in a row.

use rabbitscope_runs::scenario::WriteMode;

/// Writes in a row before other connections are served. Chosen: 256 KiB.
const WRITE_ROUNDS: u32 = 4;

/// Messages in a row, each in its own write, before other connections are served. The same number as in a batch.
const SINGLE_WRITES: u32 = 64;

/// Returns the number of writes in a row before other connections are served.
pub(super) fn write_rounds(write: WriteMode) -> u32 {
    if write == WriteMode::Batched { WRITE_ROUNDS } else { SINGLE_WRITES }
}

/// Largest number of bytes encoded for one write. It satisfies three conditions:
/// - It is large enough to make the write cheap.
/// - It is small enough that the time of sending, taken once for each write, is true for all of its messages.
/// - It fits into one segment on loopback, because a few bytes more would be a second segment with all its cost. That
///   is 65,483 bytes = 65,535 of an IP packet − 20 of IP − 32 of TCP with time stamps.
pub(super) const CHUNK: usize = 65_483;
