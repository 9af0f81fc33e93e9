//! Times in which publishers waited for the broker, joined where they overlap.

use rabbitscope_runs::record::Stall;
use rabbitscope_timing::{Nanos, RunInstant};

/// Shortest wait that is a stall; shorter ones are part of the latency. Chosen: an order of magnitude above the latency
/// of a broker that writes to a disk.
pub(super) const MIN_STALL: Nanos = Nanos::from_micros(100_000);

/// Limit of the kept stalls; further ones are only counted. Chosen.
const MAX_STALLS: usize = 10_000;

/// Stalls in the order in which they ended.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    joined: Vec<Stall>,
    left_out: u64,
}

impl Stalls {
    pub(super) fn add(&mut self, from: RunInstant, to: RunInstant) {
        let (from_nanos, to_nanos) = (from.nanos(), to.nanos());
        let longest_nanos = to.since(from).get();
        let mut stall = Stall { from_nanos, to_nanos, waits: 1, longest_nanos };
        // Threads report when they wake up, so that overlapping stalls stand at the end.
        while let Some(last) = self.joined.last()
            && last.to_nanos >= stall.from_nanos
        {
            stall = joined(stall, *last);
            self.joined.pop();
        }
        if self.joined.len() < MAX_STALLS {
            self.joined.push(stall);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns the stalls of a load that ended at `load_end`, and the number of stalls that were not kept.
    pub(super) fn finish(&mut self, load_end: RunInstant) -> (Vec<Stall>, u64) {
        let mut stalls = std::mem::take(&mut self.joined);
        stalls.retain(|stall| stall.from_nanos < load_end.nanos());
        for stall in &mut stalls {
            stall.to_nanos = stall.to_nanos.min(load_end.nanos());
            stall.longest_nanos = stall.longest_nanos.min(stall.to_nanos - stall.from_nanos);
        }
        (stalls, self.left_out)
    }
}

fn joined(one: Stall, other: Stall) -> Stall {
    Stall {
        from_nanos: one.from_nanos.min(other.from_nanos),
        to_nanos: one.to_nanos.max(other.to_nanos),
        waits: one.waits + other.waits,
        longest_nanos: one.longest_nanos.max(other.longest_nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_overlap_are_one_stall() {
        let mut stalls = Stalls::default();
        for (from, to) in [(10, 20), (30, 40), (5, 21), (35, 60), (70, 90)] {
            stalls.add(RunInstant::from_nanos(from), RunInstant::from_nanos(to));
        }
        let (found, left_out) = stalls.finish(RunInstant::from_nanos(80));
        let found: Vec<_> = found
            .iter()
            .map(|stall| (stall.from_nanos, stall.to_nanos, stall.waits, stall.longest_nanos))
            .collect();
        // The third one is reported so late that it joins stalls which were reported before it.
        assert_eq!((found, left_out), (vec![(5, 60, 4, 25), (70, 80, 1, 10)], 0));
    }
}
