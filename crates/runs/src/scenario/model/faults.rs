//! Faults: harm that is done to nodes of a throwaway broker while the load runs, and undone again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Times that one entry may happen, at most: each leaves a line in the record.
pub const MAX_OCCURRENCES: u64 = 10_000;

/// Harm to one node, once or again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// What is done.
    pub kind: FaultKind,
    /// To which node.
    pub node: FaultNode,
    /// From the start of the load to the first time.
    pub at: Duration,
    /// Absent: once.
    pub repetition: Option<Repetition>,
    /// After this time it is undone; absent: at the end of the load.
    pub lasts: Option<Duration>,
}

/// How often a fault happens, and until when. It happens for the last time before the load ends, whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repetition {
    /// From one begin to the next.
    pub every: Duration,
    /// How often in all.
    pub times: Option<u64>,
    /// None begins at or after this time of the load.
    pub until: Option<Duration>,
}

/// What is done to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// Its virtual machine is killed (SIGKILL), and started again.
    #[default]
    Kill,
    /// It is asked to stop, as `rabbitmqctl stop` does, and started again.
    Stop,
    /// Its virtual machine is halted (SIGSTOP), and goes on.
    Pause,
    /// It loses its connections to all other nodes and makes none until this is over; clients still reach it.
    Partition,
    /// It believes that it has too little memory.
    MemoryAlarm,
    /// It believes that its disk is full.
    DiskAlarm,
}

/// Which node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultNode {
    /// The one with this number, from 1.
    Number(u32),
    /// Each time another, drawn from the scenario's seed.
    Random,
    /// The one that leads this queue when the fault is due.
    LeaderOf(String),
}

impl FaultKind {
    /// As in a scenario file.
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

    /// The virtual machine ends, so that its successor has another pid.
    pub fn ends_node(self) -> bool {
        matches!(self, Self::Kill | Self::Stop)
    }
}

impl FaultSpec {
    /// When it is due, as times of a load that lasts for `load`; absent: until something else ends it.
    pub fn instants(&self, load: Option<Duration>) -> impl Iterator<Item = Duration> {
        let Self { at, repetition, .. } = *self;
        let times = match repetition {
            None => 1,
            Some(Repetition { times, .. }) => times.unwrap_or(MAX_OCCURRENCES),
        };
        let every = repetition.map_or(Duration::ZERO, |it| it.every);
        let ends = [load, repetition.and_then(|it| it.until)];
        let end = ends.into_iter().flatten().min().unwrap_or(Duration::MAX);
        let number = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        (0..times.min(MAX_OCCURRENCES))
            .map(move |time| at + every.saturating_mul(number(time)))
            .take_while(move |instant| *instant < end)
    }
}

/// The number of the node, from 1, for the time `time` of the entry `entry`: the same whenever a scenario runs.
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

    fn spec(repetition: Option<Repetition>) -> FaultSpec {
        let (kind, node) = (FaultKind::Kill, FaultNode::Random);
        FaultSpec { kind, node, at: 20 * SECOND, repetition, lasts: None }
    }

    #[test]
    fn faults_are_due_until_the_first_of_their_ends() {
        let check = |times, until: Option<u32>, load: Option<u32>, expected: &[u64]| {
            let until = until.map(|seconds| seconds * SECOND);
            let spec = spec(Some(Repetition { every: 15 * SECOND, times, until }));
            let due: Vec<u64> =
                spec.instants(load.map(|it| it * SECOND)).map(|it| it.as_secs()).collect();
            assert_eq!(due, expected, "{times:?} {until:?} {load:?}");
        };
        check(Some(2), None, None, &[20, 35]);
        check(None, Some(50), None, &[20, 35]);
        check(None, Some(51), Some(900), &[20, 35, 50]);
        check(Some(9), Some(900), Some(36), &[20, 35]);
        check(None, None, Some(10), &[]);
        assert_eq!(spec(None).instants(None).count(), 1);
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
