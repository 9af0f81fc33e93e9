//! CPU time that the hypervisor gave to other machines.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Share of all CPUs' time.
const NOTABLE: f64 = 0.05;
/// Share of all CPUs' time from which a node that works loses throughput.
const HIGH: f64 = 0.1;
/// Share of the CPUs from which a node works.
const WORKING: f64 = 0.2;

pub(crate) const RULE: Rule = Rule {
    name: "steal",
    title: "CPU time from the hypervisor",
    meaning: "the hypervisor gives CPU time of this machine to others",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "5 % stolen: note; 10 % while the node uses a fifth of the CPUs: warning",
    change: "another host, or a machine with CPUs of its own",
    source: "Linux documentation, /proc/stat; the thresholds are proposals",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let steal = host.steal_share;
    let is_notable = steal >= NOTABLE;
    if !is_notable {
        return Ok(Vec::new());
    }
    let cpus = host.cpus.max(1) as f64;
    let is_working = host.node_cores >= WORKING * cpus;
    let severity = if steal >= HIGH && is_working { Severity::Warning } else { Severity::Note };
    let stolen = look::percent(steal);
    let advice = Advice::new(
        Aim::Settle,
        "host of the machine",
        "move the machine to another host, or to a type with CPUs of its own",
        "a move of the machine",
    );
    // All that was stolen may have been the node's.
    let lost = steal * cpus / (steal * cpus + host.node_cores);
    let sentence = format!("the hypervisor takes {stolen} of the CPU time");
    let draft = Draft::new(severity, vec![case.subject.node.clone()], sentence)
        .evidence(Look::host(host).says(format!("{stolen} of {} CPUs stolen", host.cpus)))
        .evidence(Look::host(host).says(format!("the node uses {}", look::cores(host.node_cores))))
        .advice(advice)
        .bound(bound::recovery(lost, "the hypervisor gave it to others").filter(|_| is_working));
    Ok(vec![draft])
}
