//! One profile of all nodes of a cluster that are processes of this machine.

use std::{sync::atomic::AtomicBool, thread, time::Duration};

use rabbitscope_inside::MissingNode;
use rabbitscope_probe::{Node, Recorded};
use rabbitscope_profiles::{Profile, by_node};

use super::inside::{ClusterProcesses, nobody};

/// The recordings of a cluster.
pub(super) struct ClusterProfiles {
    /// One profile per event.
    pub(super) profiles: Vec<Profile>,
    /// True if a node of this machine was recorded only in part, or not at all.
    pub(super) is_short: bool,
}

type NodeResult = (String, anyhow::Result<Recorded>);

/// Records all nodes at the same time, each on its own thread. A failure of one does not end the others. The profile
/// names that node, as it names nodes of other machines. `record` gets a flag, set for one node, that asks it to
/// show the progress.
pub(super) fn record(
    cluster: ClusterProcesses,
    duration: Duration,
    record: impl Fn(&Node, bool) -> anyhow::Result<Recorded> + Sync,
    stop: &AtomicBool,
) -> anyhow::Result<ClusterProfiles> {
    let ClusterProcesses { local, mut missing } = cluster;
    let (mut nodes, mut is_short, mut failure) = (Vec::new(), false, None);
    for (node, recorded) in record_all(&local, &record)? {
        match recorded {
            Ok(recorded) => {
                let profiles = rabbitscope_debuginfod::named(recorded, stop);
                is_short |= profiles.iter().any(|profile| profile.capture.duration() < duration);
                nodes.push((node, profiles));
            }
            Err(error) => {
                is_short = true;
                missing.push(MissingNode { node, reason: format!("{error:#}") });
                failure.get_or_insert(error);
            }
        }
    }
    if nodes.is_empty() {
        return Err(failure.unwrap_or_else(|| nobody(&missing)));
    }
    Ok(ClusterProfiles { profiles: joined(&nodes, &missing), is_short })
}

fn record_all(
    nodes: &[Node],
    record: &(impl Fn(&Node, bool) -> anyhow::Result<Recorded> + Sync),
) -> anyhow::Result<Vec<NodeResult>> {
    thread::scope(|scope| {
        let begin = |(number, node)| scope.spawn(move || record(node, number == 0));
        let threads: Vec<_> = nodes.iter().enumerate().map(begin).collect();
        // The recorders keep their privileges; this thread needs none.
        rabbitscope_probe::drop_privileges()?;
        let name = |node: &Node| node.name.clone().unwrap_or_else(|| format!("pid {}", node.pid));
        let ended = nodes.iter().zip(threads);
        let ended =
            ended.map(|(node, thread)| (name(node), thread.join().expect("recording panicked")));
        Ok(ended.collect())
    })
}

/// Joins the profiles of all nodes. Nodes of one machine are recorded in the same way; if they were not, only the
/// first node is shown.
fn joined(nodes: &[(String, Vec<Profile>)], missing: &[MissingNode]) -> Vec<Profile> {
    let events = nodes.iter().map(|(_, profiles)| profiles.len()).min().unwrap_or(0);
    let of_event = |event: usize| {
        let each = || nodes.iter().map(|(node, of)| (node.clone(), of[event].clone()));
        let mut profile = by_node(each().collect()).unwrap_or_else(|| {
            let (node, mut first) = each().next().expect("a node was recorded");
            let alone = format!("of {node} only: the other nodes were recorded in another way");
            first.capture.notes.push(alone);
            first
        });
        let without =
            missing.iter().map(|node| format!("not recorded: {}, {}.", node.node, node.reason));
        profile.capture.notes.extend(without);
        profile
    };
    (0..events).map(of_event).collect()
}
