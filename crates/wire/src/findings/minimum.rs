//! The evidence that a rule needs before it reports a problem or its absence.

use std::time::Duration;

use rabbitscope_text::{grouped, short_time};

use super::hit::Case;

/// The least evidence that a rule judges.
pub(super) struct Minimum {
    /// The count.
    pub(super) count: u64,
    /// The counted thing, in words.
    pub(super) of: &'static str,
    /// The observed time.
    pub(super) time: Duration,
}

impl Minimum {
    /// For symptoms that a single packet shows.
    pub(super) const ONE: Self = Self { count: 1, of: "segments", time: Duration::ZERO };

    pub(super) const fn new(count: u64, of: &'static str, time: Duration) -> Self {
        Self { count, of, time }
    }

    pub(super) fn is_reached(&self, case: &Case) -> bool {
        case.count >= self.count && u128::from(case.nanos) >= self.time.as_nanos()
    }

    /// Returns the reason why cases below the minimum are not judged.
    pub(super) fn shortfall(&self, cases: &[Case]) -> String {
        let Some(most) = cases.iter().max_by_key(|case| (case.count, case.nanos)) else {
            return format!("no {} were seen", self.of);
        };
        format!(
            "it takes {} {} in {}; a connection had at most {} in {}",
            grouped(self.count),
            self.of,
            short_time(u64::try_from(self.time.as_nanos()).unwrap_or(u64::MAX)),
            grouped(most.count),
            short_time(most.nanos),
        )
    }
}
