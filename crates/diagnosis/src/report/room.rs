//! The room of each section in the text of a check.

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
}

/// The rooms by size. The largest in which the text fits is taken; in the smallest every text fits: 6 lines for the limit
/// and its figures, 1 for the runner-up, 5 for flow control, 10 for findings, 7 for differences, 2 for rules without a
/// finding, 5 for unread sources, and the last line.
pub(super) const ROOMS: [Room; 4] = [
    Room { evidence: 8, chains: 4, findings: 5, differences: 12, unread: 10 },
    Room { evidence: 6, chains: 4, findings: 5, differences: 8, unread: 6 },
    Room { evidence: 5, chains: 3, findings: 4, differences: 8, unread: 5 },
    Room { evidence: 4, chains: 2, findings: 3, differences: 7, unread: 4 },
];
