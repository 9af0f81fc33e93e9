//! Publishing ids of a frame, as runs.

use super::super::frame::IdentifierRun;

/// Maximum of runs that are kept per frame.
const RUNS_MAX: usize = 4096;

/// Publishing ids of a frame. The memory is reused for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct PublishingIds {
    runs: Vec<IdentifierRun>,
    left_out: u32,
}

impl PublishingIds {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.left_out = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, id: u64) {
        match self.runs.last_mut() {
            Some(run) if run.first.checked_add(run.count) == Some(id) => run.count += 1,
            _ => self.begin_run(id),
        }
    }

    fn begin_run(&mut self, id: u64) {
        if self.runs.len() < RUNS_MAX {
            self.runs.push(IdentifierRun { first: id, count: 1 });
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn runs(&self) -> &[IdentifierRun] {
        &self.runs
    }

    pub(super) const fn left_out(&self) -> u32 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_follow_each_other_are_one_run() {
        let mut ids = PublishingIds::default();
        for id in [5, 6, 7, 9, u64::MAX, 0] {
            ids.push(id);
        }
        let runs: Vec<_> = ids.runs().iter().map(|run| (run.first, run.count)).collect();
        assert_eq!(runs, [(5, 3), (9, 1), (u64::MAX, 1), (0, 1)]);
        (0..10_000).for_each(|id| ids.push(id * 2));
        assert_eq!((ids.runs().len(), ids.left_out()), (RUNS_MAX, 10_000 + 4 - 4096));
    }
}
