//! The faults of a run: what was planned, what happened, and how long the broker did not serve because of it.

use serde::{Deserialize, Serialize};

use crate::scenario::FaultKind;

/// A fault that was due. Times are nanoseconds since the load began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultRecord {
    /// What was to be done.
    pub kind: FaultKind,
    /// Place of its entry among `[[faults]]`, from 0.
    pub entry: u64,
    /// The node's Erlang name; empty when nobody knew it.
    pub node: String,
    /// When it was due.
    pub planned_nanos: u64,
    /// When it was begun; absent: it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_nanos: Option<u64>,
    /// When it was proved to have happened: the process is gone, the alarm is raised, no other node is connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub happened_nanos: Option<u64>,
    /// When undoing it was begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_begun_nanos: Option<u64>,
    /// When the node was proved to serve clients as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_nanos: Option<u64>,
    /// Pid of the node's virtual machine afterwards, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid_after: Option<u32>,
    /// Why it did not happen, or was not undone; absent: it went as planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What the broker did not do until it had recovered; absent when the fault did not happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<FaultOutage>,
}

/// Time without service from the begin of a fault until the broker has recovered. At the latest that is when the next
/// fault begins, or the load ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultOutage {
    /// In all, as in the totals of the load: every connection of one side was lost, or nothing came at all.
    pub without_service_nanos: u64,
    /// In all: at least one channel of publishers waited for its confirms ([`super::Stall`]), or there was no service.
    pub stalled_nanos: u64,
    /// The longest such wait of one channel.
    pub longest_wait_nanos: u64,
    /// In all: an alarm held at least one connection.
    pub blocked_nanos: u64,
    /// The end of the time that counts, from the start of the load; absent in records of before: until the next fault
    /// or the end of the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_nanos: Option<u64>,
}

/// Times of all faults of a kind that happened, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct FaultTimes {
    /// Of which kind.
    pub kind: FaultKind,
    /// How many were due.
    pub planned: u64,
    /// How many of them happened and were undone.
    pub as_planned: u64,
    /// [`FaultOutage::without_service_nanos`].
    pub without_service: Percentiles,
    /// [`FaultOutage::stalled_nanos`].
    pub stalled: Percentiles,
    /// [`FaultOutage::longest_wait_nanos`].
    pub longest_wait: Percentiles,
    /// From the begin of undoing to the end of it: for a node that ended, its way back to service.
    pub return_to_service: Percentiles,
}

/// Nearest ranks of a few values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Percentiles {
    /// How many values there are.
    pub count: u64,
    /// Half of them are at most this long.
    pub p50: u64,
    /// Nine of ten.
    pub p90: u64,
    /// 99 of 100.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl Percentiles {
    /// Of these values, in any order.
    pub fn of(mut values: Vec<u64>) -> Self {
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
            let found = Percentiles::of(values.to_vec());
            assert_eq!([found.count, found.p50, found.p90, found.p99, found.max], expected);
        };
        check(&[], [0; 5]);
        check(&[7], [1, 7, 7, 7, 7]);
        check(&[4, 1, 3, 2], [4, 2, 4, 4, 4]);
        check(&(1..=200).collect::<Vec<_>>(), [200, 100, 180, 198, 200]);
    }
}
