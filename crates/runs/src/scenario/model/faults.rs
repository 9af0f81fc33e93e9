//! Faults: harm done to nodes of a throwaway broker during the load, and undone again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::values::{span, time};
use crate::scenario::error::{allowed, quoted};

/// Maximum number of occurrences of one entry: each leaves a line in the record.
pub const MAX_OCCURRENCES: u64 = 10_000;

/// Harm to one node, once or repeatedly. In any case the last occurrence is before the end of the load.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FaultSpec {
    /// The kind of harm.
    pub kind: FaultKind,
    /// The affected node; absent for the only one, until checks fill it in.
    pub node: Option<FaultNode>,
    /// The queue whose leader is affected.
    pub queue: Option<String>,
    /// Time from the start of the load to the first occurrence.
    #[serde(with = "time")]
    pub at: Duration,
    /// Time from one start to the next; absent for a single occurrence.
    #[serde(default, with = "span")]
    pub every: Option<Duration>,
    /// Total number of occurrences.
    pub times: Option<u64>,
    /// Time of the load at or after which no occurrence begins.
    #[serde(default, with = "span")]
    pub until: Option<Duration>,
    /// Time after which it is undone; absent for the end of the load.
    #[serde(rename = "for", default, with = "time")]
    pub lasts: Option<Duration>,
}

/// Harm that a fault does to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Kills the node's virtual machine (SIGKILL), and starts it again.
    #[default]
    Kill,
    /// Asks the node to stop, like `rabbitmqctl stop`, and starts it again.
    Stop,
    /// Halts the node's virtual machine (SIGSTOP), and lets it continue.
    Pause,
    /// The node loses its connections to all other nodes and makes none until the fault is over. Clients still reach
    /// it.
    Partition,
    /// The node believes that it has too little memory.
    MemoryAlarm,
    /// The node believes that its disk is full.
    DiskAlarm,
}

/// The choice of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum FaultNode {
    /// The node with this number, from 1.
    Number(u32),
    /// A different node each time, drawn from the scenario's seed.
    Random,
    /// The leader of the fault's queue when the fault is due.
    Leader,
}

impl TryFrom<Value> for FaultNode {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        match value {
            // Checks refuse 0.
            Value::Integer(number) => Ok(Self::Number(u32::try_from(number).unwrap_or(0))),
            Value::String(word) if word == "random" => Ok(Self::Random),
            Value::String(word) if word == "leader" => Ok(Self::Leader),
            Value::String(word) => {
                let words = allowed(&word, &["random", "leader"]);
                let word = quoted(&word);
                Err(format!("{word} is unknown; allowed are a number, {words}"))
            }
            _ => Err("must be a number, `\"random\"` or `\"leader\"`".to_owned()),
        }
    }
}

impl From<FaultNode> for Value {
    fn from(node: FaultNode) -> Self {
        match node {
            FaultNode::Number(number) => i64::from(number).into(),
            FaultNode::Random => "random".into(),
            FaultNode::Leader => "leader".into(),
        }
    }
}

impl FaultKind {
    /// Returns the name in a scenario file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Partition => "partition",
            Self::MemoryAlarm => "memory-alarm",
            Self::DiskAlarm => "disk-alarm",
        }
    }

    /// Returns whether the virtual machine ends, so that its successor has a different pid.
    pub fn ends_node(self) -> bool {
        matches!(self, Self::Kill | Self::Stop)
    }
}

impl FaultSpec {
    /// Returns the due times within a load of length `load`; if absent, the load lasts until something else ends it.
    pub fn instants(&self, load: Option<Duration>) -> impl Iterator<Item = Duration> {
        let Self { at, every, times, until, .. } = *self;
        let times = every.map_or(1, |_| times.unwrap_or(MAX_OCCURRENCES));
        let every = every.unwrap_or_default();
        let end = [load, until].into_iter().flatten().min().unwrap_or(Duration::MAX);
        let number = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        (0..times.min(MAX_OCCURRENCES))
            .map(move |time| at + every.saturating_mul(number(time)))
            .take_while(move |instant| *instant < end)
    }
}

/// Draws the number of the node, from 1, for occurrence `time` of the entry `entry`. It is the same in every run of a
/// scenario.
pub fn drawn_node(seed: u64, entry: usize, time: usize, nodes: u32) -> u32 {
    // `SplitMix64` (Steele, Lea and Flood, 2014): each input is one step further on its sequence.
    let step = |state: u64, input: u64| {
        let mut mixed = (state ^ input).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    let drawn = [entry as u64, time as u64].into_iter().fold(step(0, seed), step);
    1 + u32::try_from(drawn % u64::from(nodes.max(1))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn spec(every: Option<Duration>, times: Option<u64>, until: Option<Duration>) -> FaultSpec {
        let (kind, node) = (FaultKind::Kill, Some(FaultNode::Random));
        FaultSpec { kind, node, queue: None, at: 20 * SECOND, every, times, until, lasts: None }
    }

    #[test]
    fn faults_are_due_until_the_first_of_their_ends() {
        let check = |times, until: Option<u32>, load: Option<u32>, expected: &[u64]| {
            let until = until.map(|seconds| seconds * SECOND);
            let spec = spec(Some(15 * SECOND), times, until);
            let due: Vec<u64> = spec
                .instants(load.map(|seconds| seconds * SECOND))
                .map(|due| due.as_secs())
                .collect();
            assert_eq!(due, expected, "{times:?} {until:?} {load:?}");
        };
        check(Some(2), None, None, &[20, 35]);
        check(None, Some(50), None, &[20, 35]);
        check(None, Some(51), Some(900), &[20, 35, 50]);
        check(Some(9), Some(900), Some(36), &[20, 35]);
        check(None, None, Some(10), &[]);
        assert_eq!(spec(None, None, None).instants(None).count(), 1);
    }

    #[test]
    fn a_seed_draws_the_same_nodes_again_and_all_of_them() {
        let draw =
            |seed, entry| (0..60).map(move |time| drawn_node(seed, entry, time, 3)).collect();
        let (one, again, other): (Vec<u32>, Vec<u32>, Vec<u32>) =
            (draw(7, 0), draw(7, 0), draw(7, 1));
        assert_eq!(one, again);
        assert_ne!(one, other);
        assert_ne!(one, draw(8, 0));
        assert_eq!(one.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3]));
    }
}
