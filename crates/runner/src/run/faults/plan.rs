//! The plan of faults with their due times and nodes. It is the same at each run of a scenario.

use std::time::Duration;

use rabbitscope_runs::scenario::{FaultKind, FaultNode, Scenario, drawn_node};

/// A planned fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedFault {
    /// Position among all faults in the order of due times, from 1.
    pub(super) number: usize,
    /// Position of the entry in the scenario, from 0.
    pub(super) entry: usize,
    pub(super) kind: FaultKind,
    pub(super) whom: Whom,
    /// Time from the start of the load.
    pub(super) at: Duration,
    /// Duration of the fault; absent if it lasts until the load ends.
    pub(super) lasts: Option<Duration>,
}

/// The selection of the broker's node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Whom {
    /// Position among the nodes, from 0.
    Node(usize),
    /// The leader of this queue when the fault is due.
    LeaderOf(String),
}

/// Plans the faults of each entry for a broker with `nodes` nodes.
pub(super) fn plan(scenario: &Scenario, nodes: usize) -> Vec<Vec<PlannedFault>> {
    let mut all: Vec<PlannedFault> = Vec::new();
    for (entry, spec) in scenario.faults.iter().enumerate() {
        for (time, at) in spec.instants(scenario.run.duration).enumerate() {
            let drawn = || {
                let nodes = u32::try_from(nodes).unwrap_or(u32::MAX);
                drawn_node(scenario.seed.number(), entry, time, nodes)
            };
            let whom = match (&spec.queue, spec.node) {
                (Some(queue), _) => Whom::LeaderOf(queue.clone()),
                (None, Some(FaultNode::Number(number))) => Whom::Node(place(number)),
                (None, _) => Whom::Node(place(drawn())),
            };
            let (kind, lasts) = (spec.kind, spec.lasts);
            all.push(PlannedFault { number: 0, entry, kind, whom, at, lasts });
        }
    }
    all.sort_by_key(|fault| (fault.at, fault.entry));
    let mut entries = vec![Vec::new(); scenario.faults.len()];
    for (number, fault) in (1..).zip(all) {
        entries[fault.entry].push(PlannedFault { number, ..fault });
    }
    entries
}

fn place(number: u32) -> usize {
    number.saturating_sub(1) as usize
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    #[test]
    fn faults_are_numbered_as_they_are_due() {
        let text = r#"
        name = "f"
        run = { duration = "10s" }
        broker = { nodes = 3 }
        queues = [{ name = "q" }]
        publishers = [{ queue = "q" }]
        faults = [
            { kind = "kill", node = 3, at = "2s", every = "3s", for = "1s" },
            { kind = "pause", node = "leader", queue = "q", at = "4s", for = "1s" },
        ]
        "#;
        let planned = plan(&scenario::parse(text, "f", &[]).unwrap(), 3);
        let found: Vec<Vec<(usize, u64)>> = planned
            .iter()
            .map(|entry| entry.iter().map(|fault| (fault.number, fault.at.as_secs())).collect())
            .collect();
        assert_eq!(found, [vec![(1, 2), (3, 5), (4, 8)], vec![(2, 4)]]);
        assert_eq!(planned[0][0].whom, Whom::Node(2));
        assert_eq!(planned[1][0].whom, Whom::LeaderOf("q".to_owned()));
    }
}
