//! Chains of blocked processes, from the one whose clients wait to the root.
//!
//! A process that is itself blocked often is no root: it grants no credit because it gets none. The next link is
//! the blocker that was seen most often.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::blocked::is_blocked;
use crate::case::{Blocker, FlowProcess};

/// Limit of the links of a chain. The longest known one has four: connection, channel, queue, message store.
const MAX_LINKS: usize = 8;

/// A process or queue at the end of chains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowRoot {
    /// The root.
    pub blocker: Blocker,
    /// Role of the process; `queue` for a queue that is not one process.
    pub role: String,
    /// Name of the process or queue.
    pub name: String,
    /// Share of the looks in which the process was busy, 0 to 1; absent for a queue, and after too few looks.
    pub busy_share: Option<f64>,
    /// Mean length of the mailbox; absent for a queue.
    pub mailbox: Option<u64>,
    /// The chains that end here, those with the largest share first.
    pub chains: Vec<FlowChain>,
}

/// A chain of processes, each blocked by the next one, the last one by the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowChain {
    /// The links, the first one nearest to the clients.
    pub links: Vec<ChainLink>,
    /// True if the last link is blocked by a process of this chain: none of them can continue by itself.
    pub is_circle: bool,
}

/// A blocked process in a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ChainLink {
    /// Pid, as the node prints it.
    pub pid: String,
    /// Role in RabbitMQ.
    pub role: String,
    /// Name of the process.
    pub name: String,
    /// The client's name for its connection; empty if it has none.
    pub client: String,
    /// Share of the looks in which the process was blocked, 0 to 1.
    pub blocked_share: f64,
}

impl FlowRoot {
    /// Returns the pid, if the root is a process.
    pub fn pid(&self) -> Option<&str> {
        pid_of(&self.blocker)
    }

    /// Returns the largest share of the looks in which a chain that ends here was blocked, 0 to 1.
    pub fn share(&self) -> f64 {
        self.chains.iter().map(FlowChain::share).fold(0.0, f64::max)
    }
}

impl FlowChain {
    /// Returns the share of the looks in which the first process was blocked, 0 to 1.
    pub fn share(&self) -> f64 {
        self.links.first().map_or(0.0, |link| link.blocked_share)
    }
}

/// Returns the roots of all chains. Processes with too few looks are left out.
pub(crate) fn roots(processes: &[FlowProcess]) -> Vec<FlowRoot> {
    let by_pid: HashMap<&str, &FlowProcess> =
        processes.iter().map(|process| (process.pid.as_str(), process)).collect();
    let inner: HashSet<&str> =
        processes.iter().filter_map(|process| blocked(process)).filter_map(pid_of).collect();
    let mut roots: Vec<FlowRoot> = Vec::new();
    let heads = processes.iter().filter(|process| !inner.contains(process.pid.as_str()));
    // A circle has no head: each of its processes blocks another.
    let heads: Vec<&FlowProcess> = heads.collect();
    let circles = processes.iter().filter(|process| inner.contains(process.pid.as_str()));
    let mut seen = HashSet::new();
    for head in heads.into_iter().chain(circles) {
        let Some((chain, end)) = chain_from(head, &by_pid) else { continue };
        if chain.links.iter().all(|link| seen.contains(&link.pid)) {
            continue;
        }
        seen.extend(chain.links.iter().map(|link| link.pid.clone()));
        match roots.iter_mut().find(|root| root.blocker == end) {
            Some(root) => root.chains.push(chain),
            None => roots.push(root(end, &by_pid, chain)),
        }
    }
    for root in &mut roots {
        root.chains.sort_by(|one, other| other.share().total_cmp(&one.share()));
    }
    roots.sort_by_key(|root| std::cmp::Reverse(root.chains.len()));
    roots
}

/// The main blocker of a process that is blocked often enough.
fn blocked(process: &FlowProcess) -> Option<&Blocker> {
    is_blocked(process).filter(|is_blocked| *is_blocked)?;
    process.blocked_by.iter().max_by_key(|(_, looks)| *looks).map(|(blocker, _)| blocker)
}

fn pid_of(blocker: &Blocker) -> Option<&str> {
    match blocker {
        Blocker::Process(pid) => Some(pid),
        _ => None,
    }
}

/// The chain from a blocked process, and the blocker at its end.
fn chain_from(
    head: &FlowProcess,
    by_pid: &HashMap<&str, &FlowProcess>,
) -> Option<(FlowChain, Blocker)> {
    let mut chain = FlowChain { links: Vec::new(), is_circle: false };
    let (mut process, mut blocker) = (head, blocked(head)?);
    loop {
        chain.links.push(link(process));
        let next = pid_of(blocker).and_then(|pid| by_pid.get(pid).copied());
        let Some((next, further)) = next.and_then(|next| Some((next, blocked(next)?))) else {
            break;
        };
        chain.is_circle = chain.links.iter().any(|link| link.pid == next.pid);
        if chain.is_circle || chain.links.len() == MAX_LINKS {
            break;
        }
        (process, blocker) = (next, further);
    }
    Some((chain, blocker.clone()))
}

fn link(process: &FlowProcess) -> ChainLink {
    ChainLink {
        pid: process.pid.clone(),
        role: process.role.clone(),
        name: process.name.clone(),
        client: process.client.clone(),
        blocked_share: process.blocked_share().unwrap_or_default(),
    }
}

fn root(blocker: Blocker, by_pid: &HashMap<&str, &FlowProcess>, chain: FlowChain) -> FlowRoot {
    let process = pid_of(&blocker).and_then(|pid| by_pid.get(pid));
    let (role, name) = match (&blocker, process) {
        (_, Some(process)) => (process.role.clone(), process.name.clone()),
        (Blocker::Queue(_, name), _) => ("queue".to_owned(), name.clone()),
        (Blocker::Process(name) | Blocker::Other(name), _) => ("unknown".to_owned(), name.clone()),
    };
    let busy_share = process.and_then(|process| process.busy_share());
    let mailbox = process.map(|process| process.mailbox);
    FlowRoot { blocker, role, name, busy_share, mailbox, chains: vec![chain] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: &str, role: &str, blocked: u64, by: &[(&str, u64)]) -> FlowProcess {
        FlowProcess {
            pid: pid.to_owned(),
            role: role.to_owned(),
            looks: 100,
            blocked,
            busy: 97,
            blocked_by: by
                .iter()
                .map(|&(pid, looks)| (Blocker::Process(pid.to_owned()), looks))
                .collect(),
            ..FlowProcess::default()
        }
    }

    fn pids(chain: &FlowChain) -> Vec<&str> {
        chain.links.iter().map(|link| link.pid.as_str()).collect()
    }

    #[test]
    fn connections_lead_to_the_queue_that_nothing_blocks() {
        let found = roots(&[
            process("r1", "reader", 80, &[("c1", 80)]),
            process("r2", "reader", 70, &[("c2", 70)]),
            process("c1", "channel", 90, &[("q", 90), ("other", 4)]),
            process("c2", "channel", 85, &[("q", 85)]),
            process("q", "queue", 5, &[("store", 5)]),
            process("store", "msg_store", 0, &[]),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].role.as_str(), found[0].busy_share), ("queue", Some(0.97)));
        assert_eq!(
            found[0].chains.iter().map(pids).collect::<Vec<_>>(),
            [["r1", "c1"], ["r2", "c2"]]
        );
    }

    #[test]
    fn a_blocked_queue_leads_to_its_message_store() {
        let found = roots(&[
            process("c", "channel", 60, &[("q", 60)]),
            process("q", "queue", 50, &[("store", 50)]),
            process("store", "msg_store", 0, &[]),
        ]);
        assert_eq!(found[0].role, "msg_store");
        assert_eq!(pids(&found[0].chains[0]), ["c", "q"]);
    }

    #[test]
    fn few_looks_and_short_blocks_are_not_judged() {
        let few = FlowProcess { looks: 19, ..process("c", "channel", 19, &[("q", 19)]) };
        assert_eq!(roots(&[few, process("d", "channel", 9, &[("q", 9)])]), []);
    }

    #[test]
    fn a_circle_has_an_end() {
        let found = roots(&[
            process("a", "queue", 90, &[("b", 90)]),
            process("b", "queue", 90, &[("a", 90)]),
        ]);
        assert!(found[0].chains[0].is_circle, "{found:?}");
        assert_eq!(pids(&found[0].chains[0]).len(), 2);
    }

    #[test]
    fn a_queue_without_a_process_is_a_root() {
        let queue = Blocker::Queue("/".to_owned(), "orders".to_owned());
        let channel = FlowProcess {
            blocked_by: vec![(queue.clone(), 40)],
            ..process("c", "channel", 40, &[])
        };
        let found = roots(&[channel]);
        assert_eq!((&found[0].blocker, found[0].name.as_str()), (&queue, "orders"));
        assert_eq!((found[0].busy_share, found[0].mailbox), (None, None));
    }
}
