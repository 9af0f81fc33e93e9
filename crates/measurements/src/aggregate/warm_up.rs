//! The seconds at the beginning of a run that its figures exclude.

use rabbitscope_analysis::has_settled;
use rabbitscope_runs::{
    record::{Doubt, DoubtKind, SecondRow},
    scenario,
};
use rabbitscope_timing::RunInstant;

/// The state of the warm-up.
#[derive(Debug)]
pub(super) enum WarmUp {
    Over,
    /// Seconds that begin before this time are warm-up.
    Until(RunInstant),
    /// All seconds so far: throughput has not settled.
    Settling(Vec<SecondRow>),
}

impl WarmUp {
    pub(crate) fn new(warm_up: Option<scenario::WarmUp>) -> Self {
        match warm_up {
            None => Self::Over,
            Some(scenario::WarmUp::Time(length)) => Self::Until(RunInstant::START + length.into()),
            Some(scenario::WarmUp::Auto) => Self::Settling(Vec::new()),
        }
    }

    /// Returns whether this second, which began at `start`, belongs to the warm-up.
    pub(crate) fn takes(&mut self, row: &SecondRow, start: RunInstant) -> bool {
        match self {
            Self::Over => return false,
            Self::Until(end) if start < *end => return true,
            Self::Until(_) => {}
            Self::Settling(rows) => {
                rows.push(row.clone());
                if !has_settled(rows) {
                    return true;
                }
            }
        }
        let is_last = matches!(self, Self::Settling(_));
        *self = Self::Over;
        is_last
    }

    /// Returns whether the warm-up is still on.
    pub(crate) fn is_on(&self) -> bool {
        !matches!(self, Self::Over)
    }

    /// Returns the doubt about a run that ends now, if there is one.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        let reason = match self {
            Self::Over | Self::Until(_) => return None,
            Self::Settling(rows) => format!(
                "throughput did not settle within {} s (`warm-up = \"auto\"`), so nothing was measured",
                rows.len()
            ),
        };
        Some(Doubt { kind: DoubtKind::NotSteady, reason })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_runs::record::Counters;
    use rabbitscope_timing::Nanos;

    use super::*;

    /// Checks the seconds of the warm-up (`w`), and whether there is a doubt at the end.
    fn check(warm_up: Option<scenario::WarmUp>, rates: &[u64], expected: &str, doubt: bool) {
        let mut state = WarmUp::new(warm_up);
        let mut marks = String::new();
        for (second, published) in (0..).zip(rates) {
            let row = SecondRow {
                interval_nanos: Nanos::SECOND.get(),
                counts: Counters {
                    published: *published,
                    accepted: (*published).into(),
                    ..Counters::default()
                },
                ..SecondRow::default()
            };
            marks.push(if state.takes(&row, RunInstant::of_second(second)) { 'w' } else { '-' });
        }
        assert_eq!((marks.as_str(), state.doubt().is_some()), (expected, doubt), "{warm_up:?}");
    }

    #[test]
    fn warm_ups_end() {
        let time = |millis| Some(scenario::WarmUp::Time(Duration::from_millis(millis)));
        let auto = Some(scenario::WarmUp::Auto);
        check(None, &[1, 2, 3], "---", false);
        check(time(2000), &[1; 4], "ww--", false);
        check(time(2001), &[1; 4], "www-", false);
        check(auto, &[1, 50, 99, 100, 101, 100, 99, 100, 5], "wwwwwww--", false);
        check(auto, &[1, 50, 99, 1, 50, 99], "wwwwww", true);
    }
}
