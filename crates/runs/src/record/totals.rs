//! Counts over a whole run.

use serde::{Deserialize, Serialize};

use super::{Counters, SecondRow};

/// Totals of the load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoadTotals {
    /// What each second counted, added up.
    #[serde(flatten)]
    pub counts: Counters,
    /// Messages accepted by the broker, but not delivered before the end of the drain; counted with
    /// `run.verify`.
    #[serde(default)]
    pub lost: u64,
    /// Messages for which no confirm came before the end.
    pub unconfirmed: u64,
}

/// The part of a run that rates and latencies are about: after the warm-up, until the publishers
/// stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Measured {
    /// From the start of the load until this part began, nanoseconds.
    pub warm_up_nanos: u64,
    /// Its length in nanoseconds. 0: the run ended before it began.
    pub duration_nanos: u64,
    /// What was counted in it.
    pub load: LoadTotals,
}

impl LoadTotals {
    /// What the seconds of a run add up to, for a run whose end nobody counted.
    pub fn of_seconds(rows: &[SecondRow]) -> Self {
        let mut totals =
            Self { unconfirmed: rows.last().map_or(0, |row| row.unconfirmed), ..Self::default() };
        for row in rows {
            totals.counts.add(&row.counts);
        }
        totals
    }
}
