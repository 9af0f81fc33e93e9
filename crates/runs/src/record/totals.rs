//! Counts over a whole run.

use serde::{Deserialize, Serialize};

use super::{Counters, ExpectedCount, SecondRow};

/// Totals of the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoadTotals {
    /// The sums of the seconds' counts.
    #[serde(flatten)]
    pub counts: Counters,
    /// Messages accepted by the broker, but not delivered before the end of the drain; counted with `run.verify`.
    #[serde(default)]
    pub lost: u64,
    /// Messages without a confirm at the end.
    pub unconfirmed: u64,
}

/// The part of a run to which rates and latencies apply: after the warm-up, until the publishers stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Measured {
    /// Time from the start of the load to the start of this part, in nanoseconds.
    pub warm_up_nanos: u64,
    /// Length of the part in nanoseconds. 0 if the run ended before the part began.
    pub duration_nanos: u64,
    /// The totals of this part.
    pub load: LoadTotals,
}

impl LoadTotals {
    /// Returns a count of the run.
    pub fn count(&self, count: ExpectedCount) -> u64 {
        match count {
            ExpectedCount::Lost => self.lost,
            ExpectedCount::Unconfirmed => self.unconfirmed,
            _ => count.counter().map_or(0, |counter| counter(&self.counts)),
        }
    }

    /// Sums the seconds of a run that ended without totals.
    pub fn of_seconds(rows: &[SecondRow]) -> Self {
        let mut totals =
            Self { unconfirmed: rows.last().map_or(0, |row| row.unconfirmed), ..Self::default() };
        for row in rows {
            totals.counts.add(&row.counts);
        }
        totals
    }
}
