//! How much of what some processes tell may wait for others, in memory.

use crate::aggregate::Waiting;

/// Intervals that wait. Chosen: what a process has kept for a bus that was away, as long as a controller waits for the
/// bus (60 s) and a worker for a controller (120 s).
const MAX_INTERVALS: usize = 180;

/// Memory of histograms that wait. Chosen: twelve seconds of every slot with three latencies each; a process that is
/// silent for ten is given up.
const MAX_KIB: usize = 2 << 20;

/// So far ahead of the others a process can tell of without being late or early itself: ten seconds of silence, and
/// ten of clocks that differ.
const MAX_LEAD: usize = 20;

/// What is done about what waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// The rows wait for these threads, which tell nothing.
    Slow { threads: Vec<usize>, intervals: usize },
    /// Whoever told last tells of too much.
    Large(String),
}

impl Excess {
    /// Absent: what waits is bounded.
    pub(super) fn of(waiting: Waiting) -> Option<Self> {
        let Waiting { intervals, kib, slowest } = waiting;
        let is_large = kib > MAX_KIB;
        if intervals > MAX_INTERVALS || is_large && intervals > MAX_LEAD {
            return Some(Self::Slow { threads: slowest, intervals });
        }
        is_large.then(|| {
            Self::Large(format!(
                "{kib} KiB of histograms wait for others, and {MAX_KIB} is the most"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_behind_is_to_blame_unless_little_waits_that_is_large() {
        fn check(intervals: usize, kib: usize, expected: Option<bool>) {
            let excess = Excess::of(Waiting { intervals, kib, slowest: vec![7] });
            let slow = excess.map(|it| it == Excess::Slow { threads: vec![7], intervals });
            assert_eq!(slow, expected, "{intervals} {kib}");
        }
        check(MAX_INTERVALS, MAX_KIB, None);
        check(MAX_INTERVALS + 1, 0, Some(true));
        check(MAX_LEAD + 1, MAX_KIB + 1, Some(true));
        check(MAX_LEAD, MAX_KIB + 1, Some(false));
    }
}
