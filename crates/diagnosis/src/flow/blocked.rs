//! Blocked processes: the one threshold of all judgements about flow control.

use crate::case::FlowProcess;

/// Share of the looks from which a process counts as blocked. Chosen: a blocker that waits less than this grants its
/// credit late for a reason of its own.
const BLOCKED_SHARE: f64 = 0.1;

/// Returns true for a process that flow control blocks. `None` if there were too few looks.
pub(super) fn is_blocked(process: &FlowProcess) -> Option<bool> {
    process.blocked_share().map(|share| share >= BLOCKED_SHARE)
}
