//! CPU time and memory of the broker's nodes on this machine. A restarted node has another pid.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use rabbitscope_broker::{Node, NodeControl};
use rabbitscope_machine::{TreeUsage, UsageMeter, sockets::connected_with};
use rabbitscope_runs::record::Loss;

use crate::run::broker::Target;

/// The nodes of a broker on this machine.
pub(in crate::run) struct NodesUsage {
    /// Knows the pids of restarted nodes; absent for a broker that rabbitscope did not start.
    control: Option<NodeControl>,
    /// One per node on this machine. Empty if any of them could not be measured, because a partial sum would look
    /// complete.
    meters: Vec<NodeMeter>,
    /// Addresses of nodes elsewhere.
    unseen: Vec<String>,
    /// Other RabbitMQ nodes of this machine that were connected to the measured ones at the start.
    neighbours: Vec<u32>,
    lapped: Instant,
    laps: u64,
    /// Laps in which a node was restarted.
    torn: u64,
}

struct NodeMeter {
    pid: u32,
    meter: UsageMeter,
    sum: NodeSum,
}

/// Usage of a node since the start of the load.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct NodeSum {
    pub(in crate::run) cpu_nanos: u64,
    /// Peak resident memory.
    pub(in crate::run) rss_bytes: u64,
}

impl NodeMeter {
    fn new(pid: u32, meter: UsageMeter) -> Self {
        Self { pid, meter, sum: NodeSum::default() }
    }

    /// Measures since the lap before. `lasted` is the duration of that lap; absent while there is no load.
    fn lap(&mut self, lasted: Option<Duration>) -> Option<TreeUsage> {
        let usage = self.meter.lap()?;
        let Some(lasted) = lasted else { return Some(usage) };
        let used = Duration::try_from_secs_f64(usage.cpu_cores * lasted.as_secs_f64());
        let nanos = used.map_or(0, |used| u64::try_from(used.as_nanos()).unwrap_or(u64::MAX));
        self.sum.cpu_nanos = self.sum.cpu_nanos.saturating_add(nanos);
        self.sum.rss_bytes = self.sum.rss_bytes.max(usage.rss_bytes);
        Some(usage)
    }
}

impl NodesUsage {
    /// Starts to measure the nodes on this machine.
    pub(in crate::run) fn start(target: &Target) -> Self {
        let (control, unseen) = (target.control(), target.unseen().to_vec());
        let meter = |&pid: &u32| Some(NodeMeter::new(pid, UsageMeter::start(pid)?));
        let pids = target.pids();
        let meters: Option<Vec<NodeMeter>> = pids.iter().map(meter).collect();
        let (meters, lapped) = (meters.unwrap_or_default(), Instant::now());
        // All nodes of a broker that rabbitscope started are known.
        let neighbours = if control.is_some() { Vec::new() } else { neighbours_of(&pids) };
        Self { control, meters, unseen, neighbours, lapped, laps: 0, torn: 0 }
    }

    /// Starts the first lap of the load.
    pub(in crate::run) fn begin(&mut self) {
        let _ = self.lap(false);
    }

    /// Returns whether the figures cover all nodes, because none is on another machine.
    pub(in crate::run) fn is_whole(&self) -> bool {
        self.unseen.is_empty()
    }

    /// Returns the usage of each node by pid; empty unless all nodes are measured.
    pub(in crate::run) fn of_nodes(&self) -> Vec<(u32, NodeSum)> {
        let all = self.meters.iter().map(|node| (node.pid, node.sum));
        all.filter(|_| self.is_whole()).collect()
    }

    /// Returns the usage of all nodes on this machine since the last call. Absent if one of them is gone and will not
    /// be restarted. A node that rabbitscope restarts counts as idle while it is down.
    pub(in crate::run) fn lap(&mut self, is_load: bool) -> Option<TreeUsage> {
        self.laps += 1;
        let since = std::mem::replace(&mut self.lapped, Instant::now());
        let lasted = is_load.then(|| since.elapsed());
        let Some(control) = &self.control else {
            return sum(self.meters.iter_mut().map(|node| node.lap(lasted)));
        };
        let pids: Vec<u32> = control.nodes().iter().map(|node: &Node| node.pid).collect();
        let mut torn = false;
        for (node, pid) in self.meters.iter_mut().zip(pids).filter(|(node, pid)| node.pid != *pid) {
            torn = true;
            (node.pid, node.meter) = (pid, UsageMeter::of_process_begun_since(pid, since));
        }
        self.torn += u64::from(torn);
        sum(self.meters.iter_mut().map(|node| Some(node.lap(lasted).unwrap_or_default())))
    }

    /// Returns the gaps in these figures.
    pub(in crate::run) fn loss(&self) -> Option<Loss> {
        self.elsewhere().or_else(|| self.beside()).or_else(|| self.torn())
    }

    /// Reports nodes that stayed connected to the measured ones, most likely those of a cluster of which not all
    /// addresses were given. A command line tool is connected for a moment only.
    fn beside(&self) -> Option<Loss> {
        let measured: Vec<u32> = self.meters.iter().map(|node| node.pid).collect();
        let mut beside = neighbours_of(&measured);
        beside.retain(|pid| self.neighbours.contains(pid));
        let (here, others) = (self.meters.len() as u64, beside.len() as u64);
        let pids = beside.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        (others > 0).then(|| Loss {
            what: "nodes, for CPU time and memory of the broker".to_owned(),
            count: others,
            of: here + others,
            meaning: format!(
                "other RabbitMQ nodes of this machine are connected to the broker's (pid {pids}), by a cluster or by a \
                 shovel, and their usage is not included; for a cluster give the addresses of all nodes in \
                 `broker.uris`"
            ),
        })
    }

    /// Reports nodes elsewhere beside some on this machine. The usage of the local ones is a part and must not stand
    /// for the whole.
    fn elsewhere(&self) -> Option<Loss> {
        let (here, elsewhere) = (self.meters.len() as u64, self.unseen.len() as u64);
        (here > 0 && elsewhere > 0).then(|| Loss {
            what: "nodes, for CPU time and memory of the broker".to_owned(),
            count: here + elsewhere,
            of: here + elsewhere,
            meaning: format!(
                "no node of this machine is seen at {}; the usage of the others would be incomplete",
                self.unseen.join(", ")
            ),
        })
    }

    fn torn(&self) -> Option<Loss> {
        (self.torn > 0).then(|| Loss {
            what: "seconds of the broker's CPU time".to_owned(),
            count: self.torn,
            of: self.laps,
            meaning: "in these seconds, a node came back: the last usage of its former process is missing"
                .to_owned(),
        })
    }
}

/// Returns the other RabbitMQ nodes of this machine that are connected to the `measured` ones. Nodes of other users are
/// seen by root only. Clients and tools may be Erlang VMs too.
fn neighbours_of(measured: &[u32]) -> Vec<u32> {
    let all = rabbitscope_probe::list_nodes().unwrap_or_default();
    let is_other = |pid: &u32| !measured.contains(pid);
    let is_rabbitmq =
        |pid: &u32| rabbitscope_probe::origin_of(*pid).is_ok_and(|origin| origin.is_rabbitmq);
    let others = all.into_iter().map(|node| node.pid).filter(is_other).filter(is_rabbitmq);
    let others: Vec<u32> = others.collect();
    let connected = measured.iter().flat_map(|pid| connected_with(*pid, &others));
    connected.collect::<BTreeSet<u32>>().into_iter().collect()
}

fn sum(laps: impl Iterator<Item = Option<TreeUsage>>) -> Option<TreeUsage> {
    let laps: Option<Vec<TreeUsage>> = laps.collect();
    laps?.into_iter().reduce(|one, other| one + other)
}
