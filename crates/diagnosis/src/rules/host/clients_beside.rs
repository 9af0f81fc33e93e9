//! Clients on the node's machine that take CPU time from it.

use super::neighbours::{competing, figures, waiting};
use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Idle share of the CPUs below which programs compete.
const IDLE: f64 = 0.1;
/// Waiting for a CPU against running, from which the node suffers.
const WAITING: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "clients-beside",
    title: "clients on the machine",
    meaning: "clients run on the node's machine and take CPU time from it",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "0.3 cores together, less than 10 % idle, and the node waits for a tenth of its time: note",
    change: "clients on another machine",
    source: "Linux documentation, schedstat; the thresholds are proposals",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let waiting = waiting(host)?;
    let busy = competing(host, |neighbour| neighbour.is_client);
    if busy.is_empty() || !(host.idle_share < IDLE && waiting >= WAITING) {
        return Ok(Vec::new());
    }
    let sum: f64 = busy.iter().map(|client| client.cores).sum();
    let sentence = format!("clients on the node's machine take {} from it", look::cores(sum));
    let advice = Advice::new(
        Aim::Settle,
        "machine of the clients",
        "run the clients on another machine, above all for measurements",
        "a machine; round trips over a network",
    );
    let draft = Draft::new(Severity::Note, busy.iter().map(|own| own.label()).collect(), sentence)
        .all_evidence(figures(host, &busy, waiting))
        .advice(advice);
    Ok(vec![draft])
}
