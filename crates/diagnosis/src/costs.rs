//! CPU time by owner: queues, clients, busy waiting, the rest.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    case::{Case, Cpu, ProcessCpu},
    rules::{attribute, names},
};

/// Samples below which nothing is said.
const MIN_SAMPLES: u64 = 200;

/// Owners of each kind with a row.
const MOST_ROWS: usize = 10;

/// Roles of processes that serve a client alone.
const OF_CLIENT: [&str; 4] = ["reader", "writer", "channel", "session"];

/// Roles of processes that many queues share.
const SHARED: [&str; 2] = ["ra_log", "msg_store"];

/// The CPU time of a node, by owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Costs {
    /// CPU time of the node in cores.
    pub cores: f64,
    /// Number of samples behind it.
    pub samples: u64,
    /// Queues, the most expensive first, at most 10.
    pub queues: Vec<Cost>,
    /// All queues together, in cores.
    pub all_queues: f64,
    /// Clients by their own name, the most expensive first, at most 10: readers, channels, writers.
    pub clients: Vec<Cost>,
    /// All clients together, in cores.
    pub all_clients: f64,
    /// Schedulers that look for work, in cores.
    pub busy_wait: f64,
    /// The rest in cores: other processes, and processes with too little CPU time for a row.
    pub rest: f64,
}

/// The CPU time of an owner.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cost {
    /// Name of the queue or client.
    pub name: String,
    /// CPU time in cores.
    pub cores: f64,
    /// The part of it in processes that several queues share, by their published messages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(cores: &f64) -> bool {
    *cores == 0.0
}

impl Costs {
    /// Distributes the CPU time over its owners. `None` without samples of the CPU or names of processes, or with fewer
    /// than 200 samples.
    pub(crate) fn from_case(case: &Case) -> Option<Self> {
        let cpu = case.cpu.as_ref().ok().filter(|cpu| cpu.samples >= MIN_SAMPLES)?;
        if cpu.processes.iter().all(|process| process.role.is_empty()) {
            return None;
        }
        let (queues, clients) = (queues(case, cpu), clients(case, cpu));
        let sum = |rows: &[Cost]| rows.iter().map(|row| row.cores).sum::<f64>();
        let (all_queues, all_clients) = (sum(&queues), sum(&clients));
        Some(Self {
            cores: cpu.cores,
            samples: cpu.samples,
            all_queues,
            all_clients,
            busy_wait: cpu.busy_wait_cores,
            rest: (cpu.cores - all_queues - all_clients - cpu.busy_wait_cores).max(0.0),
            queues: queues.into_iter().take(MOST_ROWS).collect(),
            clients: clients.into_iter().take(MOST_ROWS).collect(),
        })
    }
}

/// Returns the queues, each with its own processes and its part of logs and message stores.
fn queues(case: &Case, cpu: &Cpu) -> Vec<Cost> {
    let mut found: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for process in cpu.processes.iter().filter(|one| one.is_of_queue) {
        let name = if process.name.is_empty() { &process.pid } else { &process.name };
        found.entry(names::in_vhost(name, &process.vhost)).or_default().0 += process.cores;
    }
    let is_shared = |pid: &str| {
        let mut processes = cpu.processes.iter();
        processes.any(|one| one.pid == pid && SHARED.contains(&one.role.as_str()))
    };
    for share in attribute(case).into_iter().filter(|one| is_shared(&one.pid)) {
        for queue in share.queues {
            found.entry(queue.queue).or_default().1 += queue.cores;
        }
    }
    let row = |(name, (own, shared))| Cost { name, cores: own + shared, shared };
    sorted(found.into_iter().map(row).collect())
}

fn clients(case: &Case, cpu: &Cpu) -> Vec<Cost> {
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    for process in cpu.processes.iter().filter(|one| OF_CLIENT.contains(&one.role.as_str())) {
        *found.entry(client(case, cpu, process)).or_default() += process.cores;
    }
    let row = |(name, cores)| Cost { name, cores, shared: 0.0 };
    sorted(found.into_iter().map(row).collect())
}

/// Returns the client's own name, or that of the process without one.
fn client(case: &Case, cpu: &Cpu, process: &ProcessCpu) -> String {
    let clients = case.clients.as_ref().ok();
    let of_channel = || {
        let mut channels = clients?.channels.iter();
        channels.find(|one| one.pid == process.pid).map(|one| one.client.as_str())
    };
    let of_connection = || {
        let mut connections = clients?.connections.iter();
        let found =
            connections.find(|one| one.pid == process.pid || is_on(&process.name, &one.name));
        found.map(|one| one.client.as_str())
    };
    // A reader carries the client's name, also if its connection has no row.
    let of_reader = || {
        let names = cpu.processes.iter().map(|one| one.name.as_str());
        let mut of_connection = names.filter(|name| is_on(&process.name, name));
        of_connection.find_map(|name| Some(name.split_once(" - ")?.1))
    };
    let named = [of_channel(), of_connection(), of_reader()];
    let known = named.into_iter().flatten().find(|name| !name.is_empty());
    known.unwrap_or(if process.name.is_empty() { &process.pid } else { &process.name }).to_owned()
}

/// Returns whether a channel or writer has the name of this connection: `a -> b` or `a -> b (1)`. A connection may carry
/// the client's name: `a -> b - shop`.
fn is_on(process: &str, connection: &str) -> bool {
    let addresses = process.rsplit_once(" (").map_or(process, |(addresses, _)| addresses);
    let rest = connection.strip_prefix(addresses).filter(|_| !addresses.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" - "))
}

fn sorted(mut rows: Vec<Cost>) -> Vec<Cost> {
    rows.retain(|row| row.cores.is_finite());
    rows.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    rows
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            owners("queues", self.all_queues, &self.queues),
            owners("clients", self.all_clients, &self.clients),
            format!("busy waiting {:.2}", self.busy_wait),
            format!("other or small processes {:.2}", self.rest),
        ];
        write!(f, "{:.2} cores: {}", self.cores, parts.join(", "))
    }
}

/// Returns a kind of owners with its most expensive ones.
fn owners(kind: &str, all: f64, rows: &[Cost]) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = rows
        .iter()
        .filter(|row| row.cores >= 0.005)
        .take(NAMED)
        .map(|row| format!("{} {:.2}", rabbitscope_text::escapes::value(&row.name), row.cores))
        .collect();
    let list = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    format!("{kind} {all:.2}{list}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{
        ChannelCase, Clients, ConnectionCase, QueueCase, QueueKind, Queues, Subject,
    };

    fn process(pid: &str, role: &str, name: &str, cores: f64) -> ProcessCpu {
        let is_of_queue = role.starts_with("quorum_");
        let [pid, role, name, vhost] = [pid, role, name, "/"].map(str::to_owned);
        ProcessCpu { pid, role, is_of_queue, name, vhost, cores, ..ProcessCpu::default() }
    }

    fn case() -> Case {
        let queue = |name: &str, published| QueueCase {
            name: name.to_owned(),
            vhost: "/".to_owned(),
            kind: QueueKind::Quorum,
            published_per_second: Some(published),
            ..QueueCase::default()
        };
        let channel = ChannelCase {
            pid: "<0.5.0>".to_owned(),
            client: "shop".to_owned(),
            ..ChannelCase::default()
        };
        let connection = ConnectionCase {
            pid: "<0.6.0>".to_owned(),
            name: "a -> b".to_owned(),
            client: "shop".to_owned(),
            ..ConnectionCase::default()
        };
        let mut case = Case::unread(Subject::default());
        case.queues = Ok(Queues {
            count: 2,
            rows: vec![queue("orders", 300.0), queue("mail", 100.0)],
            ..Queues::default()
        });
        case.clients = Ok(Clients { channels: vec![channel], connections: vec![connection] });
        case.cpu = Ok(Cpu {
            samples: 900,
            cores: 1.5,
            busy_wait_cores: 0.1,
            processes: vec![
                process("<0.1.0>", "ra_log", "ra_log_wal", 0.4),
                process("<0.2.0>", "quorum_leader", "orders", 0.2),
                process("<0.5.0>", "channel", "a -> b (1)", 0.3),
                process("<0.6.0>", "reader", "a -> b", 0.1),
                process("<0.7.0>", "writer", "a -> b", 0.05),
                process("<0.8.0>", "statistics", "rabbit_mgmt", 0.02),
            ],
            ..Cpu::default()
        });
        case
    }

    #[test]
    fn shared_processes_belong_to_the_queues_that_they_work_for() {
        let costs = Costs::from_case(&case()).unwrap();
        let rows = |rows: &[Cost]| -> Vec<String> {
            rows.iter()
                .map(|row| format!("{} {:.2} {:.2}", row.name, row.cores, row.shared))
                .collect()
        };
        assert_eq!(rows(&costs.queues), ["orders 0.50 0.30", "mail 0.10 0.10"]);
        assert_eq!(rows(&costs.clients), ["shop 0.45 0.00"]);
        let all = costs.all_queues + costs.all_clients + costs.busy_wait + costs.rest;
        assert!((all - costs.cores).abs() < 1e-9, "{costs:?}");
        assert_eq!(
            costs.to_string(),
            "1.50 cores: queues 0.60 (orders 0.50, mail 0.10), clients 0.45 (shop 0.45), busy waiting 0.10, other or small processes 0.35"
        );
    }

    #[test]
    fn channels_without_a_row_belong_to_their_connection() {
        assert!(is_on("1:2 -> 3:4 (1)", "1:2 -> 3:4 - shop"));
        assert!(is_on("1:2 -> 3:4", "1:2 -> 3:4"));
        assert!(!is_on("1:2 -> 3:4 (1)", "1:2 -> 3:45 - shop") && !is_on("", ""));
        let mut case = case();
        case.clients.as_mut().unwrap().channels.clear();
        let costs = Costs::from_case(&case).unwrap();
        assert_eq!((costs.clients.len(), costs.clients[0].name.as_str()), (1, "shop"));
        case.clients.as_mut().unwrap().connections.clear();
        case.cpu.as_mut().unwrap().processes[3].name += " - night";
        let costs = Costs::from_case(&case).unwrap();
        assert_eq!((costs.clients.len(), costs.clients[0].name.as_str()), (1, "night"));
    }

    #[test]
    fn without_names_or_with_few_samples_nothing_is_said() {
        let mut case = case();
        case.cpu.as_mut().unwrap().samples = 199;
        assert_eq!(Costs::from_case(&case), None);
        let cpu = case.cpu.as_mut().unwrap();
        cpu.samples = 900;
        cpu.processes.iter_mut().for_each(|process| process.role.clear());
        assert_eq!(Costs::from_case(&case), None);
        assert_eq!(Costs::from_case(&Case::unread(Subject::default())), None);
    }
}
