//! Memory limits for updates of some processes that wait for others.

use rabbitscope_measurements::Waiting;

/// Intervals that may wait. Chosen: the backlog that a process keeps while the bus is unreachable. A controller waits
/// 60 s for the bus, and a worker 120 s for a controller.
const MAX_INTERVALS: usize = 180;

/// Memory of histograms that may wait. Chosen: twelve seconds of every slot with three latencies each. A process that
/// is silent for ten seconds is dropped.
const MAX_KIB: usize = 2 << 20;

/// Largest lead of a process over the others, in intervals, without a fault of its own: ten seconds of silence, and ten
/// of clock differences.
const MAX_LEAD: usize = 20;

/// A limit that the waiting intervals exceed, and thus the process to drop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// The rows wait for these threads, which send nothing.
    Slow { threads: Vec<usize>, intervals: usize },
    /// The latest update exceeds the memory limit.
    Large(String),
}

impl Excess {
    /// Returns the exceeded limit; absent if there is none.
    pub(super) fn find(waiting: Waiting) -> Option<Self> {
        let Waiting { intervals, kib, slowest } = waiting;
        let is_large = kib > MAX_KIB;
        if intervals > MAX_INTERVALS || is_large && intervals > MAX_LEAD {
            return Some(Self::Slow { threads: slowest, intervals });
        }
        is_large.then(|| {
            Self::Large(format!(
                "{kib} KiB of histograms wait for others; the limit is {MAX_KIB} KiB"
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
            let excess = Excess::find(Waiting { intervals, kib, slowest: vec![7] });
            let slow = excess.map(|found| found == Excess::Slow { threads: vec![7], intervals });
            assert_eq!(slow, expected, "{intervals} {kib}");
        }
        check(MAX_INTERVALS, MAX_KIB, None);
        check(MAX_INTERVALS + 1, 0, Some(true));
        check(MAX_LEAD + 1, MAX_KIB + 1, Some(true));
        check(MAX_LEAD, MAX_KIB + 1, Some(false));
    }
}
