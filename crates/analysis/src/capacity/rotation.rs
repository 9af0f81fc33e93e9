//! Several searches for the same limit that take turns, step by step.
//!
//! A limit drifts with the machine. Consecutive searches differ by that drift, and searches that take turns see nearly
//! the same drift. It is not exactly the same, because one search may end before another.

use rabbitscope_runs::capacity::{CapacityOutcome, RateSpread, SearchResult, StepVerdict};

use super::search::{Range, Search};

/// Searches that take turns. Ask [`SearchRotation::next_rate`], try the rate, and report to [`SearchRotation::record`].
#[derive(Clone, Debug)]
pub struct SearchRotation {
    /// At least one search.
    searches: Vec<Search>,
    turn: usize,
}

impl SearchRotation {
    /// Creates `count` searches, at least one, that have tried nothing.
    pub fn new(range: Range, count: usize) -> Self {
        Self { searches: vec![Search::new(range); count.max(1)], turn: 0 }
    }

    /// Returns the rate to try next; absent when all searches are over.
    pub fn next_rate(&self) -> Option<f64> {
        self.searches[self.turn].next_rate()
    }

    /// Answers for the search whose turn it is; see [`Search::is_near_limit`].
    pub fn is_near_limit(&self) -> bool {
        self.searches[self.turn].is_near_limit()
    }

    /// Answers for the search whose turn it is; see [`Search::needs_clear_step`].
    pub fn needs_clear_step(&self) -> bool {
        self.searches[self.turn].needs_clear_step()
    }

    /// Records the verdict of the step at [`SearchRotation::next_rate`]. Then the next unfinished search has its turn,
    /// unless the step must be repeated for longer.
    pub fn record(&mut self, verdict: StepVerdict) {
        self.searches[self.turn].record(verdict);
        if self.searches[self.turn].needs_clear_step() {
            return;
        }
        let count = self.searches.len();
        let mut others = (1..=count).map(|ahead| (self.turn + ahead) % count);
        if let Some(next) = others.find(|index| self.searches[*index].next_rate().is_some()) {
            self.turn = next;
        }
    }

    /// Returns `Found` if all searches found the limit, otherwise the outcome of the first that did not.
    pub fn outcome(&self) -> CapacityOutcome {
        let mut outcomes = self.searches.iter().map(Search::outcome);
        outcomes
            .find(|outcome| *outcome != CapacityOutcome::Found)
            .unwrap_or(CapacityOutcome::Found)
    }

    /// Returns the median over the searches that found the limit, or over all if none did; see [`Search::rate`].
    pub fn rate(&self) -> Option<f64> {
        let found = |search: &&Search| search.outcome() == CapacityOutcome::Found;
        let has_found = self.searches.iter().any(|search| found(&search));
        let meant = self.searches.iter().filter(|search| !has_found || found(search));
        let mut rates: Vec<f64> = meant.filter_map(Search::rate).collect();
        rates.sort_unstable_by(f64::total_cmp);
        let last = rates.len().checked_sub(1)?;
        Some(f64::midpoint(rates[last / 2], rates[last.div_ceil(2)]))
    }

    /// Returns the spread of the crossings of all searches.
    pub fn spread(&self) -> Option<RateSpread> {
        let both = |one: RateSpread, other: RateSpread| RateSpread {
            low: one.low.min(other.low),
            high: one.high.max(other.high),
            crossings: one.crossings + other.crossings,
            share: 0.0,
        };
        let found = self.searches.iter().filter_map(Search::spread).reduce(both)?;
        let share = (found.high - found.low) / self.rate().unwrap_or(found.high);
        Some(RateSpread { share, ..found })
    }

    /// Returns the result of each search; empty if there is only one.
    pub fn results(&self) -> Vec<SearchResult> {
        let result =
            |search: &Search| SearchResult { outcome: search.outcome(), rate: search.rate() };
        let several = self.searches.iter().filter(|_| self.searches.len() > 1);
        several.map(result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { min: 1000.0, max: 1e6, tolerance: 0.05, crossings: 5 };

    /// Simulates `count` searches: steps below `limit` pass, and the limit falls by the share `drift` with each step.
    fn search(count: usize, limit: f64, drift: f64) -> (SearchRotation, Vec<f64>) {
        let (mut rotation, mut tried) = (SearchRotation::new(RANGE, count), Vec::new());
        while let Some(rate) = rotation.next_rate() {
            let passes = rate < limit * (1.0 - drift * tried.len() as f64);
            tried.push(rate);
            rotation.record(if passes { StepVerdict::Passed } else { StepVerdict::Failed });
        }
        (rotation, tried)
    }

    #[test]
    fn one_search_alone_is_that_search() {
        let (rotation, tried) = search(1, 20_000.0, 0.0);
        let mut alone = Search::new(RANGE);
        for rate in tried {
            assert_eq!(alone.next_rate(), Some(rate));
            let passes = rate < 20_000.0;
            alone.record(if passes { StepVerdict::Passed } else { StepVerdict::Failed });
        }
        assert_eq!(alone.next_rate(), None);
        assert_eq!((rotation.rate(), rotation.spread()), (alone.rate(), alone.spread()));
        assert_eq!((rotation.outcome(), rotation.results()), (alone.outcome(), Vec::new()));
    }

    #[test]
    fn searches_in_turn_share_the_drift() {
        let (rotation, tried) = search(5, 20_000.0, 0.001);
        assert!(tried[..5].iter().all(|rate| *rate == RANGE.min), "each begins at the beginning");
        let rates: Vec<f64> = rotation.results().iter().filter_map(|result| result.rate).collect();
        assert_eq!(rates.len(), 5);
        assert_eq!(rotation.outcome(), CapacityOutcome::Found);
        let (low, high) =
            (rates.iter().copied().reduce(f64::min), rates.iter().copied().reduce(f64::max));
        // The limit itself falls by more than 10 % meanwhile.
        assert!(0.001 * tried.len() as f64 > 0.1);
        assert!(high.unwrap() / low.unwrap() < 1.05, "{rates:?}");
    }
}
