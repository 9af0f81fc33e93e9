//! The faults of a run: the plan, the events, and the resulting time without service.

use serde::{Deserialize, Serialize};

use crate::scenario::FaultKind;

/// A fault that was due. Times are nanoseconds since the load began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultRecord {
    /// The planned action.
    pub kind: FaultKind,
    /// Index of its entry among `[[faults]]`, from 0.
    pub entry: u64,
    /// The node's Erlang name; empty if it is unknown.
    pub node: String,
    /// The time at which it was due.
    pub planned_nanos: u64,
    /// The start of the action; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_nanos: Option<u64>,
    /// The time of proof: the process is gone, the alarm is raised, no other node is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub happened_nanos: Option<u64>,
    /// The start of undoing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_begun_nanos: Option<u64>,
    /// The time at which the node was proved to serve clients as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_nanos: Option<u64>,
    /// Pid of the node's virtual machine afterwards, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_after: Option<u32>,
    /// The reason why it did not happen, or was not undone; absent if it went as planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The time without service until the broker had recovered; absent when the fault did not happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<FaultOutage>,
}

/// Time without service from the start of a fault until the broker has recovered. It ends at the latest when the next
/// fault begins, or the load ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultOutage {
    /// Total time, as in the totals of the load, in which every connection of one side was lost, or nothing came at
    /// all.
    pub without_service_nanos: u64,
    /// Total time in which a channel of publishers waited for its confirms ([`super::Stall`]), or there was no service.
    pub stalled_nanos: u64,
    /// The longest such wait of one channel.
    pub longest_wait_nanos: u64,
    /// Total time in which an alarm held at least one connection.
    pub blocked_nanos: u64,
    /// End of the counted time, from the start of the load. Absent in older records, which count until the next fault
    /// or the end of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_nanos: Option<u64>,
}

/// Times of all faults of a kind that happened, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultTimes {
    /// The kind of the faults.
    pub kind: FaultKind,
    /// Number of faults that were due.
    pub planned: u64,
    /// Number of faults that happened and were undone.
    pub as_planned: u64,
    /// Percentiles of [`FaultOutage::without_service_nanos`].
    pub without_service: NearestRanks,
    /// Percentiles of [`FaultOutage::stalled_nanos`].
    pub stalled: NearestRanks,
    /// Percentiles of [`FaultOutage::longest_wait_nanos`].
    pub longest_wait: NearestRanks,
    /// Percentiles of the time from the start of undoing to its end: for a node that ended, its way back to service.
    pub return_to_service: NearestRanks,
}

/// Nearest ranks of a few values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct NearestRanks {
    /// Number of values.
    pub count: u64,
    /// Half of the values are at most this long.
    pub p50: u64,
    /// Nine of ten are at most this long.
    pub p90: u64,
    /// 99 of 100 are at most this long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl NearestRanks {
    /// Computes the percentiles of values in any order.
    pub fn from_values(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        // Nearest rank: the least value that is not below the given share of all.
        let rank = |percent: usize| {
            let at = (values.len() * percent).div_ceil(100).saturating_sub(1);
            values.get(at).copied().unwrap_or(0)
        };
        Self {
            count: values.len() as u64,
            p50: rank(50),
            p90: rank(90),
            p99: rank(99),
            max: rank(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let check = |values: &[u64], expected: [u64; 5]| {
            let found = NearestRanks::from_values(values.to_vec());
            assert_eq!([found.count, found.p50, found.p90, found.p99, found.max], expected);
        };
        check(&[], [0; 5]);
        check(&[7], [1, 7, 7, 7, 7]);
        check(&[4, 1, 3, 2], [4, 2, 4, 4, 4]);
        check(&(1..=200).collect::<Vec<_>>(), [200, 100, 180, 198, 200]);
    }
}
