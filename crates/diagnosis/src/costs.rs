//! CPU time by owner: queues, clients, busy waiting, the rest.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use rabbitscope_text::{escapes, grouped};

use crate::{
    case::{Case, Cpu, OwnerCpu, OwnerKind},
    rules::{attribute, names},
};

/// Samples below which nothing is said.
const MIN_SAMPLES: u64 = 200;

/// CPU time in cores below which an owner has no place in a sentence.
const LEAST: f64 = 0.005;

/// Owners of each kind with a row.
const MOST_ROWS: usize = 10;

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
    /// Queues, the most expensive first; at most 10 in a report.
    pub queues: Vec<Cost>,
    /// All queues together, in cores.
    pub all_queues: f64,
    /// Number of queues: those of the node, or those with CPU time if that is unknown.
    #[serde(default)]
    pub queue_count: u64,
    /// Clients by their own name, the most expensive first: readers, channels, writers; at most 10 in a report.
    pub clients: Vec<Cost>,
    /// All clients together, in cores.
    pub all_clients: f64,
    /// Number of clients with CPU time.
    #[serde(default)]
    pub client_count: u64,
    /// Schedulers that look for work, in cores.
    pub busy_wait: f64,
    /// The rest in cores, which belongs to no queue and no client.
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
    /// Distributes the CPU time over its owners, and keeps the most expensive ones. `None` as in [`Costs::of_all`].
    pub(crate) fn from_case(case: &Case) -> Option<Self> {
        let mut costs = Self::of_all(case)?;
        costs.queues.truncate(MOST_ROWS);
        costs.clients.truncate(MOST_ROWS);
        Some(costs)
    }

    /// Distributes the CPU time over its owners, each with a row. `None` without samples of the CPU or names of
    /// processes, or with fewer than 200 samples.
    pub fn of_all(case: &Case) -> Option<Self> {
        let cpu = case.cpu.as_ref().ok().filter(|cpu| cpu.samples >= MIN_SAMPLES)?;
        if cpu.processes.iter().all(|process| process.role.is_empty()) {
            return None;
        }
        let (mut queues, mut clients) = (queues(case, cpu), clients(case, cpu));
        let sum = |rows: &[Cost]| rows.iter().map(|row| row.cores).sum::<f64>();
        let (all_queues, all_clients) = (sum(&queues), sum(&clients));
        let on_node = case.queues.as_ref().map_or(0, |queues| queues.count);
        let queue_count = on_node.max(queues.len() as u64);
        let client_count = clients.len() as u64;
        for rows in [&mut queues, &mut clients] {
            rows.retain(|row| !row.name.is_empty());
        }
        Some(Self {
            cores: cpu.cores,
            samples: cpu.samples,
            queues,
            all_queues,
            queue_count,
            clients,
            all_clients,
            client_count,
            busy_wait: cpu.busy_wait_cores,
            rest: (cpu.cores - all_queues - all_clients - cpu.busy_wait_cores).max(0.0),
        })
    }
}

/// Returns the queues, each with its own processes and its part of logs and message stores.
fn queues(case: &Case, cpu: &Cpu) -> Vec<Cost> {
    let mut found: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for owner in of_kind(cpu, OwnerKind::Queue) {
        found.entry(names::in_vhost(&owner.name, &owner.vhost)).or_default().0 += owner.cores;
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
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for owner in of_kind(cpu, OwnerKind::Client) {
        *found.entry(client(case, &owner.name)).or_default() += owner.cores;
    }
    let row = |(name, cores): (&str, f64)| Cost { name: name.to_owned(), cores, shared: 0.0 };
    sorted(found.into_iter().map(row).collect())
}

fn of_kind(cpu: &Cpu, kind: OwnerKind) -> impl Iterator<Item = &OwnerCpu> {
    cpu.owners.iter().filter(move |owner| owner.kind == kind)
}

/// Returns the client's own name. A client may have had no name when its processes were recorded, but its connection's.
fn client<'a>(case: &'a Case, name: &'a str) -> &'a str {
    let rows = case.clients.iter().flat_map(|clients| &clients.connections);
    let mut clients = rows.filter(|row| row.name == name).map(|row| row.client.as_str());
    clients.find(|client| !client.is_empty()).unwrap_or(name)
}

fn sorted(mut rows: Vec<Cost>) -> Vec<Cost> {
    rows.retain(|row| row.cores.is_finite());
    rows.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    rows
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            owners("queues", (self.all_queues, self.queue_count), &self.queues),
            owners("clients", (self.all_clients, self.client_count), &self.clients),
            format!("busy waiting {:.2}", self.busy_wait),
            format!("the rest {:.2}", self.rest),
        ];
        write!(f, "{:.2} cores: {}", self.cores, parts.join(", "))
    }
}

/// Returns a kind of owners with its most expensive ones, and the sum of the others.
fn owners(kind: &str, (all, count): (f64, u64), rows: &[Cost]) -> String {
    const NAMED: usize = 3;
    let named: Vec<&Cost> = rows.iter().filter(|row| row.cores >= LEAST).take(NAMED).collect();
    let others = count.saturating_sub(named.len() as u64);
    let of_others = all - named.iter().map(|row| row.cores).sum::<f64>();
    let row = |row: &&Cost| format!("{} {:.2}", escapes::value(&row.name), row.cores);
    let mut list: Vec<String> = named.iter().map(row).collect();
    if others > 0 && of_others >= LEAST {
        list.push(match others {
            1 => format!("1 other {of_others:.2}"),
            others => format!("{} others {of_others:.2}", grouped(others)),
        });
    }
    let list = if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) };
    format!("{kind} {all:.2}{list}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Clients, ConnectionCase, ProcessCpu, QueueCase, QueueKind, Queues, Subject};

    fn owner(kind: OwnerKind, name: &str, cores: f64) -> OwnerCpu {
        OwnerCpu { kind, name: name.to_owned(), cores, ..OwnerCpu::default() }
    }

    fn process(pid: &str, role: &str, name: &str, cores: f64) -> ProcessCpu {
        let [pid, role, name] = [pid, role, name].map(str::to_owned);
        ProcessCpu { pid, role, name, cores, ..ProcessCpu::default() }
    }

    fn case() -> Case {
        let queue = |name: &str, published| QueueCase {
            name: name.to_owned(),
            vhost: "/".to_owned(),
            kind: QueueKind::Quorum,
            published_per_second: Some(published),
            ..QueueCase::default()
        };
        let connection = ConnectionCase {
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
        case.clients = Ok(Clients { connections: vec![connection], ..Clients::default() });
        case.cpu = Ok(Cpu {
            samples: 900,
            cores: 1.5,
            busy_wait_cores: 0.1,
            processes: vec![
                process("<0.1.0>", "ra_log", "ra_log_wal", 0.4),
                process("<0.8.0>", "statistics", "rabbit_mgmt", 0.02),
            ],
            owners: vec![
                owner(OwnerKind::Client, "a -> b", 0.3),
                owner(OwnerKind::Queue, "orders", 0.2),
                owner(OwnerKind::Client, "shop", 0.15),
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
            "1.50 cores: queues 0.60 (orders 0.50, mail 0.10), clients 0.45 (shop 0.45), busy waiting 0.10, the rest 0.35"
        );
    }

    /// A node with thousands of queues and clients, of which none has much.
    #[test]
    fn many_small_owners_are_added_up() {
        let mut case = case();
        let cpu = case.cpu.as_mut().unwrap();
        cpu.cores = 2.0;
        cpu.owners.extend((0..800).map(|number| OwnerCpu {
            vhost: "v".to_owned(),
            ..owner(OwnerKind::Queue, &format!("night-{number}"), 0.0005)
        }));
        cpu.owners.extend(
            (0..500).map(|number| owner(OwnerKind::Client, &format!("1:{number} -> b"), 0.001)),
        );
        // Clients that are gone have no name.
        cpu.owners.push(owner(OwnerKind::Client, "", 0.1));
        case.queues.as_mut().unwrap().count = 3000;
        let costs = Costs::from_case(&case).unwrap();
        assert_eq!((costs.queues.len(), costs.clients.len()), (10, 10));
        assert_eq!((costs.queue_count, costs.client_count), (3000, 502));
        assert!((costs.all_queues - 1.0).abs() < 1e-9 && (costs.rest - 0.0).abs() < 1e-9);
        assert_eq!(
            costs.to_string(),
            "2.00 cores: queues 1.00 (orders 0.50, mail 0.10, 2,998 others 0.40), clients 1.05 (shop 0.45, 501 others 0.60), busy waiting 0.10, the rest 0.00"
        );
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
