//! CPU time and memory of the broker's nodes on this machine. A node that is started again goes on under another pid.

use std::time::Instant;

use rabbitscope_broker::{Node, NodeControl};
use rabbitscope_runs::record::Loss;

use crate::machine::{TreeUsage, UsageMeter};

/// The nodes of a broker on this machine.
pub(super) struct NodesUsage {
    /// Knows the pids of nodes that come back; absent: they are somebody else's.
    control: Option<NodeControl>,
    /// None at all where one could not be measured: a sum without it would be taken for all.
    meters: Vec<NodeMeter>,
    lapped: Instant,
    laps: u64,
    /// Laps in which a node came back.
    torn: u64,
}

struct NodeMeter {
    pid: u32,
    meter: UsageMeter,
}

impl NodesUsage {
    /// `pids` are those of the nodes that are on this machine.
    pub(super) fn start(pids: &[u32], control: Option<NodeControl>) -> Self {
        let meter = |&pid: &u32| Some(NodeMeter { pid, meter: UsageMeter::start(pid)? });
        let meters: Option<Vec<NodeMeter>> = pids.iter().map(meter).collect();
        let (meters, lapped) = (meters.unwrap_or_default(), Instant::now());
        Self { control, meters, lapped, laps: 0, torn: 0 }
    }

    /// Of all nodes together since the last call; absent when one of them is gone that nobody starts again. A node that is
    /// down uses nothing.
    pub(super) fn lap(&mut self) -> Option<TreeUsage> {
        self.laps += 1;
        let since = std::mem::replace(&mut self.lapped, Instant::now());
        let Some(control) = &self.control else {
            return sum(self.meters.iter_mut().map(|node| node.meter.lap()));
        };
        let pids: Vec<u32> = control.nodes().iter().map(|node: &Node| node.pid).collect();
        let mut torn = false;
        for (node, pid) in self.meters.iter_mut().zip(pids).filter(|(node, pid)| node.pid != *pid) {
            torn = true;
            *node = NodeMeter { pid, meter: UsageMeter::of_process_begun_since(pid, since) };
        }
        self.torn += u64::from(torn);
        sum(self.meters.iter_mut().map(|node| Some(node.meter.lap().unwrap_or_default())))
    }

    /// What is missing in these figures.
    pub(super) fn loss(&self) -> Option<Loss> {
        (self.torn > 0).then(|| Loss {
            what: "seconds of the broker's CPU time".to_owned(),
            count: self.torn,
            of: self.laps,
            meaning: "in these a node came back: what its former process used after the second before is missing"
                .to_owned(),
        })
    }
}

fn sum(laps: impl Iterator<Item = Option<TreeUsage>>) -> Option<TreeUsage> {
    let laps: Option<Vec<TreeUsage>> = laps.collect();
    laps?.into_iter().reduce(|one, other| one + other)
}
