//! Erlang VMs whose schedulers are bound to the same CPUs.

use rabbitscope_text::counted;

use super::neighbours::waiting;
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

/// Waiting for a CPU against running, from which the node suffers.
const WAITING: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "shared-cores",
    title: "binding of schedulers",
    meaning: "several Erlang VMs bind their schedulers to the same CPUs and wait for each other while other CPUs are idle",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "another VM bound alike: note; warning if the node waits for a CPU a tenth of its time",
    change: "`RABBITMQ_SCHEDULER_BIND_TYPE=u`",
    source: "cluster-operator#1517",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    if host.bound_alike.is_empty() {
        return Ok(Vec::new());
    }
    let waiting = waiting(host).unwrap_or(0.0);
    let severity = if waiting >= WAITING { Severity::Warning } else { Severity::Note };
    let others: Vec<String> = host.bound_alike.iter().map(|pid| format!("process {pid}")).collect();
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
    let draft = Draft::new(severity, others, sentence)
        .evidence(Look::host(host).says(figure))
        .advice(advice.with_text("SCHEDULER_BIND_TYPE=u"))
        .bound(bound::recovery(waiting, "threads waited for a CPU").filter(|_| waiting >= WAITING));
    Ok(vec![draft])
}
