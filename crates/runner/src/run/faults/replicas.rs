//! The positions of the queues' replicas. A node evaluates an Erlang expression (`replicas.erl`), which writes its
//! answer to a file in the broker's own directory.

use std::{
    fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use rabbitscope_broker::{Node, NodeControl};
use rabbitscope_runs::record::{QueueReplicas, ReplicaSnapshot};
use serde::Deserialize;

const EXPRESSION: &str = include_str!("replicas.erl");

/// Number of queues in a snapshot. Chosen: each fault takes two snapshots.
const MAX_QUEUES: usize = 200;

/// The positions of a broker's queues during the load.
pub(super) struct ReplicaLog {
    control: NodeControl,
    taken: Mutex<Vec<ReplicaSnapshot>>,
    number: AtomicU32,
}

/// The answer of a node.
#[derive(Deserialize)]
struct Answer {
    queues: Vec<QueueReplicas>,
    count: u64,
}

impl ReplicaLog {
    pub(super) fn new(control: NodeControl) -> Self {
        Self { control, taken: Mutex::default(), number: AtomicU32::default() }
    }

    /// Asks a node outside `avoided`, whose nodes may not answer, and keeps its answer.
    pub(super) fn take(&self, at_nanos: u64, when: &str, avoided: &[usize]) {
        let mut snapshot =
            ReplicaSnapshot { at_nanos, when: when.to_owned(), ..ReplicaSnapshot::default() };
        match self.node(avoided) {
            None => snapshot.failure = Some("no node is running to ask".to_owned()),
            Some(node) => {
                snapshot.asked = node.node_name();
                match self.ask(&node) {
                    Ok(Answer { queues, count }) => {
                        let left_out = count.saturating_sub(queues.len() as u64);
                        snapshot.left_out = (left_out > 0).then_some(left_out);
                        snapshot.queues = queues;
                    }
                    Err(reason) => snapshot.failure = Some(reason),
                }
            }
        }
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(snapshot);
    }

    /// Returns the position of the node that leads a queue.
    pub(super) fn leader_of(&self, queue: &str, avoided: &[usize]) -> Result<usize, String> {
        let nobody = || "no node is running to ask for the leader".to_owned();
        let answer = self.ask(&self.node(avoided).ok_or_else(nobody)?)?;
        let found = answer.queues.into_iter().find(|row| row.name == queue);
        let leader = found.and_then(|row| row.leader);
        let leader = leader.ok_or_else(|| format!("no node leads the queue `{queue}`"))?;
        let nodes = self.control.nodes();
        let place = nodes.iter().position(|node| node.node_name() == leader);
        place.ok_or_else(|| {
            format!("{leader}, the leader of `{queue}`, is not a node of the broker")
        })
    }

    /// Takes the snapshots out of the log, in chronological order.
    pub(super) fn taken(&self) -> Vec<ReplicaSnapshot> {
        let taken = &mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = std::mem::take(taken);
        taken.sort_by_key(|snapshot| snapshot.at_nanos);
        taken
    }

    fn node(&self, avoided: &[usize]) -> Option<Node> {
        let nodes = self.control.nodes().into_iter().enumerate();
        let mut running =
            nodes.filter(|(place, node)| !avoided.contains(place) && node.is_running());
        running.next().map(|(_, node)| node)
    }

    fn ask(&self, node: &Node) -> Result<Answer, String> {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let file = node.directory.join(format!("replicas-{number}.json"));
        let expression = EXPRESSION
            .replace("@FILE@", &file.display().to_string())
            .replace("@MOST@", &MAX_QUEUES.to_string());
        let answer = node.eval(&expression).map_err(|error| error.to_string());
        let text = answer.and_then(|_| fs::read(&file).map_err(|error| error.to_string()));
        // A file that stays here disappears with the broker's directory.
        let _ = fs::remove_file(&file);
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()))
    }
}
