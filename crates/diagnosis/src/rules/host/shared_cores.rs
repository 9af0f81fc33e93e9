//! Erlang VMs whose schedulers are bound to the same CPUs.

use rabbitscope_text::counted;

use super::neighbours::waiting;
use crate::{
    case::{Case, Host, Neighbour},
    finding::Severity,
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// CPU time in cores from which a VM hinders another one, and is hindered. Schedulers of a VM with less work are awake too
/// rarely to meet.
const BUSY: f64 = 0.2;
/// Waiting for a CPU against running, from which the node suffers.
const WAITING: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "shared-cores",
    title: "binding of schedulers",
    meaning: "several Erlang VMs bind their schedulers to the same CPUs and wait for each other while other CPUs are idle",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "another VM bound alike, 0.2 cores for it and for the node: note; warning if the node waits for a CPU a tenth of its time",
    change: "`RABBITMQ_SCHEDULER_BIND_TYPE=u`",
    source: "cluster-operator#1517",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let busy = busy_alike(host);
    if busy.is_empty() || host.node_cores < BUSY {
        return Ok(Vec::new());
    }
    let waiting = waiting(host).unwrap_or(0.0);
    let severity = if waiting >= WAITING { Severity::Warning } else { Severity::Note };
    let others: Vec<String> = busy.iter().map(|other| format!("process {}", other.pid)).collect();
    let sentence = format!(
        "{} bound to the same CPUs as this one",
        counted(others.len() as u64, "other Erlang VM")
    );
    let advice = Advice::new(
        Aim::Settle,
        "RABBITMQ_SCHEDULER_BIND_TYPE",
        "do not bind schedulers where several nodes share a machine, in rabbitmq-env.conf",
        "a restart",
    );
    let (waits, idle) = (look::percent(waiting), look::percent(host.idle_share));
    let figure = format!("the node waits for a CPU {waits} of its time while {idle} are idle");
    let used: f64 = busy.iter().map(|other| other.cores).sum();
    let (used, own) = (look::cores(used), look::cores(host.node_cores));
    let draft = Draft::new(severity, others, sentence)
        .evidence(Look::host(host).says(figure))
        .evidence(Look::host(host).says(format!("the node uses {own}, the others {used}")))
        .advice(advice.with_text("SCHEDULER_BIND_TYPE=u"))
        .bound(bound::recovery(waiting, "threads waited for a CPU").filter(|_| waiting >= WAITING));
    Ok(vec![draft])
}

/// Returns the busy VMs among those that are bound alike.
fn busy_alike(host: &Host) -> Vec<&Neighbour> {
    let is_busy = |other: &&Neighbour| other.cores >= BUSY && host.bound_alike.contains(&other.pid);
    host.neighbours.iter().filter(is_busy).collect()
}
