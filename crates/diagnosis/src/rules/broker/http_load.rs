//! Requests over HTTP that take much of the node's CPU time.

use super::statistics_overload::used_by;
use crate::{
    case::{Case, Cpu},
    finding::Severity,
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Share of the node's CPU time, busy waiting excluded.
const SHARE: f64 = 0.1;
/// Cores below which the answers cost nothing worth a change.
const LEAST_CORES: f64 = 0.1;

pub(crate) const RULE: Rule = Rule {
    name: "http-load",
    title: "requests over HTTP",
    meaning: "answers to scrapes or to the management API take CPU time from messages",
    needs: &[Need::Cpu],
    minimum: Minimum { seconds: 5, counts: "500 samples" },
    threshold: "10 % of the node's CPU time and 0.1 cores: warning",
    change: "`prometheus.return_per_object_metrics = false`, or fewer requests",
    source: "rabbitmq-prometheus#28",
    find,
};

fn find(case: &Case) -> Judged {
    let cpu = case.cpu.as_ref()?;
    let (used, share) = used_by(cpu, "http")?;
    if !(used >= LEAST_CORES && share >= SHARE) {
        return Ok(Vec::new());
    }
    let servers = cpu.processes.iter().filter(|process| process.role == "http");
    let sentence = format!(
        "answers to requests over HTTP take {} of the node's CPU time",
        look::percent(share)
    );
    let figure = format!("they use {} of {}", look::cores(used), look::cores(cpu.cores));
    let draft = Draft::new(Severity::Warning, servers.map(names::process).collect(), sentence)
        .evidence(Look::cpu(cpu).says(figure))
        .advice(advice(cpu))
        .bound(bound::recovery(share, "answers to requests use it"));
    Ok(vec![draft])
}

fn advice(cpu: &Cpu) -> Advice {
    let servers = cpu.processes.iter().filter(|process| process.role == "http");
    let mut functions = servers.flat_map(|process| &process.functions);
    if functions.any(|function| function.name.starts_with("prometheus")) {
        let sentence = "answer scrapes with sums, in rabbitmq.conf, or scrape less often";
        let cost = "metrics of single queues are only at /metrics/detailed";
        return Advice::new(Aim::Settle, "prometheus.return_per_object_metrics", sentence, cost)
            .with_text("prometheus.return_per_object_metrics = false");
    }
    let sentence = "ask the management API less often, or only for the columns that you need";
    Advice::new(Aim::Settle, "requests to the management API", sentence, "older figures")
}
