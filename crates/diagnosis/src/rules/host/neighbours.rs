//! Other programs that take CPU time from the node.

use rabbitscope_text::counted;

use crate::{
    case::{Case, Host, Neighbour},
    finding::{Evidence, Severity},
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Cores of the programs that compete, together.
const COMPETING: f64 = 0.3;
/// Cores of a program that is worth a name.
const NAMED: f64 = 0.05;
/// Idle share of the CPUs below which programs compete.
const IDLE: f64 = 0.1;
/// Waiting for a CPU against running, from which the node suffers.
const WAITING: f64 = 0.1;

/// CPU time of a node, with its waiting, in cores, below which waiting costs nothing.
const LEAST_WORK: f64 = 0.2;

pub(crate) const RULE: Rule = Rule {
    name: "neighbours",
    title: "other programs on the machine",
    meaning: "another program takes CPU time, and the node's threads wait for a CPU",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "0.3 cores together, less than 10 % idle, and the node waits for a tenth of its time: warning",
    change: "move the program, or limit it",
    source: "Linux documentation, schedstat; the thresholds are proposals",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let waiting = waiting(host)?;
    let busy = competing(host, |neighbour| !neighbour.is_client);
    if busy.is_empty() || !(host.idle_share < IDLE && waiting >= WAITING) {
        return Ok(Vec::new());
    }
    let who = match busy.len() {
        1 => format!("{} takes", busy[0].command),
        count => format!("{} and {} take", busy[0].command, counted(count as u64 - 1, "other")),
    };
    let cores = look::cores(busy.iter().map(|other| other.cores).sum());
    let waits = look::percent(waiting);
    let sentence = format!("{who} {cores}, and the node waits for a CPU {waits} of its time");
    let advice = Advice::new(
        Aim::Settle,
        "other programs on the machine",
        "move the other program to another machine, or limit it (nice, cpu.weight, cpu.max)",
        "the other program is slower",
    );
    let draft =
        Draft::new(Severity::Warning, busy.iter().map(|own| own.label()).collect(), sentence)
            .all_evidence(figures(host, &busy, waiting))
            .advice(advice)
            .bound(bound::recovery(waiting, "threads waited for a CPU"));
    Ok(vec![draft])
}

/// Returns the share of the node's time in which its threads were ready and waited for a CPU.
pub(crate) fn waiting(host: &Host) -> Result<f64, NotJudged> {
    let waiting = host.waiting_cores.filter(|waiting| waiting.is_finite() && *waiting >= 0.0);
    let waiting = waiting
        .ok_or_else(|| NotJudged::new("the time that threads waited for a CPU is unknown"))?;
    let sum = waiting + host.node_cores;
    if sum < LEAST_WORK {
        return Err(NotJudged::new("the node has hardly any work"));
    }
    Ok(waiting / sum)
}

/// Returns the programs that take CPU time, the busiest first. None if they take little together.
pub(crate) fn competing(host: &Host, is_of_kind: impl Fn(&Neighbour) -> bool) -> Vec<&Neighbour> {
    let mut busy: Vec<&Neighbour> = host
        .neighbours
        .iter()
        .filter(|neighbour| is_of_kind(neighbour) && neighbour.cores >= NAMED)
        .collect();
    let is_much = busy.iter().map(|neighbour| neighbour.cores).sum::<f64>() >= COMPETING;
    busy.retain(|_| is_much);
    busy.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    busy
}

/// Returns the figures of competing programs, the machine and the node.
pub(crate) fn figures(host: &Host, busy: &[&Neighbour], waiting: f64) -> Vec<Evidence> {
    let look = Look::host(host);
    let used = busy
        .iter()
        .take(3)
        .map(|own| look.says(format!("{} uses {}", own.label(), look::cores(own.cores))));
    let idle = look::percent(host.idle_share);
    let node = look::cores(host.node_cores);
    let waiting = look::percent(waiting);
    let of_node =
        format!("the node uses {node} of {} CPUs, waits {waiting}, {idle} are idle", host.cpus);
    used.chain([look.says(of_node)]).collect()
}
