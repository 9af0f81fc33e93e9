//! The time of ticks.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time in nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
