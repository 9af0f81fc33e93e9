//! Weights by source line. They are kept beside the stacks, so that lines do not multiply the stacks. Memory grows
//! with the executed code, not with the samples.

use rabbitscope_profiles::{Event, FrameId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::beam::SourceLine;

/// Erlang functions and BIFs of a stack, root first, each with its line.
pub(super) type FunctionLines = Vec<(FrameId, Option<SourceLine>)>;

/// The line weights of one recording.
#[derive(Debug, Default)]
pub(super) struct LineWeights {
    sums: FxHashMap<(Event, FrameId, SourceLine), LineSum>,
    /// Functions of the current sample, kept to reuse their memory.
    seen: FxHashSet<FrameId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineSum {
    /// Weight of samples with this function as the innermost Erlang function, on this line.
    pub(super) own: u64,
    /// Weight of samples with this function, by the line of its innermost activation.
    pub(super) total: u64,
}

impl LineWeights {
    /// Adds a sample. A function counts once, at its innermost activation.
    pub(super) fn add(&mut self, event: Event, function_lines: &FunctionLines, weight: u64) {
        self.seen.clear();
        for (depth, &(frame, line)) in function_lines.iter().rev().enumerate() {
            let is_innermost = self.seen.insert(frame);
            let Some(line) = line.filter(|_| is_innermost) else { continue };
            let sum = self.sums.entry((event, frame, line)).or_default();
            sum.total += weight;
            if depth == 0 {
                sum.own += weight;
            }
        }
    }

    /// The weights of one event, by function and line.
    pub(super) fn of_event(
        &self,
        event: Event,
    ) -> impl Iterator<Item = (FrameId, SourceLine, LineSum)> {
        let found = self.sums.iter().filter(move |((own, ..), _)| *own == event);
        found.map(|(&(_, frame, line), &sum)| (frame, line, sum))
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::{Event, FrameId};

    use super::{LineSum, LineWeights};
    use crate::beam::SourceLine;

    fn check(samples: &[(&[(u32, u32)], u64)], expected: &[(u32, u32, u64, u64)]) {
        let mut lines = LineWeights::default();
        for (function_lines, weight) in samples {
            let function_lines = function_lines.iter().map(|&(frame, number)| {
                (FrameId(frame), (number > 0).then_some(SourceLine { file: 0, number }))
            });
            lines.add(Event::Cpu, &function_lines.collect(), *weight);
        }
        let mut found: Vec<_> = lines
            .of_event(Event::Cpu)
            .map(|(frame, line, LineSum { own, total })| (frame.0, line.number, own, total))
            .collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(lines.of_event(Event::Mmap).count(), 0);
    }

    #[test]
    fn own_is_the_innermost_and_total_is_all() {
        let samples: [(&[_], u64); 2] = [(&[(1, 10), (2, 20)], 5), (&[(1, 11)], 3)];
        check(&samples, &[(1, 10, 0, 5), (1, 11, 3, 3), (2, 20, 5, 5)]);
    }

    #[test]
    fn a_function_that_calls_itself_counts_once_where_it_is_innermost() {
        check(&[(&[(1, 10), (1, 10), (2, 20), (1, 11)], 4)], &[(1, 11, 4, 4), (2, 20, 0, 4)]);
        // An outer activation does not count either if the line of the innermost is unknown.
        check(&[(&[(1, 10), (2, 20), (1, 0)], 4)], &[(2, 20, 0, 4)]);
    }
}
