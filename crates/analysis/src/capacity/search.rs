//! Which rate to try next: doubled until one does not pass, then halved in between.

use rabbitscope_data::capacity::{CapacityOutcome, StepVerdict};

/// Rates that may be tried, messages a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The first.
    pub min: f64,
    /// The last.
    pub max: f64,
    /// The search ends when the lowest rate that failed is no more than this share above the highest
    /// that passed.
    pub tolerance: f64,
}

/// A search. Ask [`Search::next_rate`], try it, and tell [`Search::record`].
#[derive(Clone, Debug)]
pub struct Search {
    range: Range,
    passed: Option<f64>,
    /// The lowest rate that did not pass, and how.
    above: Option<(f64, StepVerdict)>,
}

impl Search {
    /// Nothing has been tried.
    pub fn new(range: Range) -> Self {
        Self { range, passed: None, above: None }
    }

    /// The rate to try next; absent when the search is over.
    pub fn next_rate(&self) -> Option<f64> {
        let Range { min, max, tolerance } = self.range;
        match (self.passed, self.above) {
            (None, None) => Some(min),
            (None, Some(_)) => None,
            (Some(passed), None) => (passed < max).then(|| (2.0 * passed).min(max)),
            (Some(passed), Some((above, _))) => {
                // In the middle on a scale of ratios, as the tolerance is one.
                (above > passed * (1.0 + tolerance)).then(|| (passed * above).sqrt().round())
            }
        }
        .filter(|next| self.is_new(*next))
    }

    /// Between whole rates there is nothing to find.
    fn is_new(&self, rate: f64) -> bool {
        let is_above = self.passed.is_none_or(|passed| rate > passed);
        is_above && self.above.is_none_or(|(above, _)| rate < above)
    }

    /// What became of `rate`.
    pub fn record(&mut self, rate: f64, verdict: StepVerdict) {
        if verdict == StepVerdict::Passed {
            self.passed = Some(self.passed.map_or(rate, |passed| passed.max(rate)));
        } else if self.above.is_none_or(|(above, _)| rate < above) {
            self.above = Some((rate, verdict));
        }
    }

    /// The highest rate that passed.
    pub fn passed(&self) -> Option<f64> {
        self.passed
    }

    /// The lowest rate that did not pass.
    pub fn above(&self) -> Option<f64> {
        self.above.map(|(rate, _)| rate)
    }

    /// What came out, once there is no next rate.
    pub fn outcome(&self) -> CapacityOutcome {
        match (self.passed, self.above) {
            (_, Some((_, StepVerdict::ClientLimited))) => CapacityOutcome::ClientLimited,
            (None, _) => CapacityOutcome::Nothing,
            (Some(_), None) => CapacityOutcome::Unlimited,
            (Some(_), Some(_)) => CapacityOutcome::Found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: Range = Range { min: 1000.0, max: 1_000_000.0, tolerance: 0.05 };

    /// Searches with a broker that says how it takes a rate; the rates that were tried.
    fn run(range: Range, broker: &mut dyn FnMut(f64) -> StepVerdict) -> (Search, Vec<f64>) {
        let (mut search, mut tried) = (Search::new(range), Vec::new());
        while let Some(rate) = search.next_rate() {
            assert!(tried.len() < 60, "no end: {tried:?}");
            tried.push(rate);
            search.record(rate, broker(rate));
        }
        (search, tried)
    }

    fn limit(capacity: f64) -> impl FnMut(f64) -> StepVerdict {
        move |rate| if rate <= capacity { StepVerdict::Passed } else { StepVerdict::Failed }
    }

    #[test]
    fn the_limit_is_found() {
        for capacity in [1000.0, 1001.0, 33_333.0, 47_123.0, 999_999.0] {
            let (search, tried) = run(RANGE, &mut limit(capacity));
            assert_eq!(search.outcome(), CapacityOutcome::Found, "{capacity}");
            let (passed, above) = (search.passed().unwrap(), search.above().unwrap());
            assert!(passed <= capacity && capacity < above, "{passed} {capacity} {above}");
            assert!(above <= passed * 1.05 + 1.0, "{passed} {above}");
            assert!(tried.len() <= 16, "{tried:?}");
        }
    }

    #[test]
    fn the_ends_of_the_range_are_told_apart() {
        fn check(capacity: f64, expected: (CapacityOutcome, Option<f64>, usize)) {
            let (search, tried) = run(RANGE, &mut limit(capacity));
            assert_eq!((search.outcome(), search.passed(), tried.len()), expected, "{tried:?}");
        }
        check(999.0, (CapacityOutcome::Nothing, None, 1));
        check(1e9, (CapacityOutcome::Unlimited, Some(1_000_000.0), 11));
    }

    #[test]
    fn whole_rates_end_the_search() {
        let range = Range { min: 1.0, max: 100.0, tolerance: 0.001 };
        let (search, _) = run(range, &mut limit(9.5));
        assert_eq!((search.passed(), search.above()), (Some(9.0), Some(10.0)));
    }

    #[test]
    fn a_limit_of_the_client_is_no_limit_of_the_broker() {
        let (search, _) = run(RANGE, &mut |rate| match rate {
            ..=40_000.0 => StepVerdict::Passed,
            _ => StepVerdict::ClientLimited,
        });
        assert_eq!(search.outcome(), CapacityOutcome::ClientLimited);
        let (search, _) = run(RANGE, &mut |rate| match rate {
            ..=40_000.0 => StepVerdict::Passed,
            ..=60_000.0 => StepVerdict::Failed,
            _ => StepVerdict::ClientLimited,
        });
        assert_eq!(search.outcome(), CapacityOutcome::Found, "the broker fails before the client");
    }

    /// A queue that is served at random with `capacity` messages a second: its 99th percentile is
    /// `-ln 0.01 / (capacity - rate)`, and a step of 10 s measures it with an error.
    #[test]
    fn noise_moves_the_result_little() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for round in 0..200 {
            let capacity = 5_000.0 + 400.0 * f64::from(round);
            let limit_seconds = 0.005;
            let exact = capacity - 4.605 / limit_seconds;
            let (search, _) = run(RANGE, &mut |rate| {
                let p99 = 4.605 / (capacity - rate).max(1e-9) * (0.9 + 0.2 * random());
                if rate < capacity && p99 < limit_seconds {
                    StepVerdict::Passed
                } else {
                    StepVerdict::Failed
                }
            });
            let found = search.passed().unwrap();
            let error = found / exact - 1.0;
            assert!((-0.08..0.05).contains(&error), "{found} for {exact}");
        }
    }
}
