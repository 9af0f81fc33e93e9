//! The room of each section in the text of a check.

use rabbitscope_text::counted;

/// Lines of the whole text: it fits a terminal.
pub(super) const LINES: usize = 40;

/// The most rows of each section. What has no room is counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Figures behind the limit, a line each.
    pub(super) evidence: usize,
    /// Chains of flow control, a line each.
    pub(super) chains: usize,
    /// Findings, up to three lines each.
    pub(super) findings: usize,
    /// Lines of differences.
    pub(super) differences: usize,
    /// Sources that were not read, a line each.
    pub(super) unread: usize,
    /// Queues over AMQP, a line each.
    pub(super) queues: usize,
}

/// The rooms by size. The largest in which the text fits is taken; in the smallest every text fits: 6 lines for the limit
/// and its figures, 1 for the runner-up, 5 for flow control, 10 for findings, 5 for differences, 3 for AMQP, 2 for costs
/// and memory, 2 for rules without a finding, 5 for unread sources, and the last line.
pub(super) const ROOMS: [Room; 4] = [
    Room { evidence: 8, chains: 4, findings: 5, differences: 12, unread: 10, queues: 20 },
    Room { evidence: 6, chains: 4, findings: 5, differences: 8, unread: 6, queues: 12 },
    Room { evidence: 5, chains: 3, findings: 4, differences: 8, unread: 5, queues: 4 },
    Room { evidence: 4, chains: 2, findings: 3, differences: 5, unread: 4, queues: 0 },
];

/// Returns the line that counts rows without room; empty if all have some.
pub(super) fn left_out(all: usize, shown: usize, noun: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        more => format!("          {} more in the JSON (--json)\n", counted(more as u64, noun)),
    }
}
