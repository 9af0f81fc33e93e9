//! Collectors of statistics that take much of the node's CPU time.

use crate::{
    case::{Broker, Case, Cpu},
    finding::Severity,
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the node's CPU time, busy waiting excluded.
const SHARE: f64 = 0.1;
/// Cores below which the collectors cost nothing worth a change.
const LEAST_CORES: f64 = 0.1;
/// Fewest samples.
const SAMPLES: u64 = 500;
/// Interval in milliseconds, six times the default, above which only the collectors themselves can go.
const LONG_INTERVAL: u64 = 30_000;

pub(crate) const RULE: Rule = Rule {
    name: "statistics-overload",
    title: "collection of statistics",
    meaning: "the collectors of the management plugin take CPU time from messages",
    needs: &[Need::Cpu, Need::Broker],
    minimum: Minimum { seconds: 5, counts: "500 samples" },
    threshold: "10 % of the node's CPU time and 0.1 cores: warning",
    change: "`collect_statistics_interval`, then `management_agent.disable_metrics_collector`",
    source: "RabbitMQ documentation, management plugin",
    find,
};

fn find(case: &Case) -> Judged {
    let (cpu, broker) = (case.cpu.as_ref()?, case.broker.as_ref()?);
    let collectors = cpu.processes.iter().filter(|process| process.role == "mgmt_stats");
    let (used, share) = used_by(cpu, "mgmt_stats")?;
    if !(used >= LEAST_CORES && share >= SHARE) {
        return Ok(Vec::new());
    }
    let subjects = collectors.map(names::process).collect();
    let sentence =
        format!("collecting statistics takes {} of the node's CPU time", look::percent(share));
    let queues = case.queues.as_ref().map_or(0, |queues| queues.count);
    let look = Look::cpu(cpu);
    let draft = Draft::new(Severity::Warning, subjects, sentence)
        .evidence(look.says(format!(
            "the collectors use {} of {}",
            look::cores(used),
            look::cores(cpu.cores)
        )))
        .evidence(Look::node(case).ends(format!("{queues} queues have statistics")))
        .advice(advice(broker))
        .bound(bound::recovery(share, "the collectors use it"));
    Ok(vec![draft])
}

/// Returns the cores of a role, and their share of the node's work.
pub(crate) fn used_by(cpu: &Cpu, role: &str) -> Result<(f64, f64), NotJudged> {
    if cpu.samples < SAMPLES {
        return Err(NotJudged::new(format!(
            "it takes {SAMPLES} samples; there were {}",
            cpu.samples
        )));
    }
    if cpu.processes.iter().all(|process| process.role.is_empty()) {
        return Err(NotJudged::new("the roles of the processes are unknown"));
    }
    let own = cpu.processes.iter().filter(|process| process.role == role);
    let used: f64 = own.map(|process| process.cores).sum();
    let working = (cpu.cores - cpu.busy_wait_cores).max(used);
    Ok((used, if working > 0.0 { used / working } else { 0.0 }))
}

fn advice(broker: &Broker) -> Advice {
    let interval = broker.settings.statistics_interval_ms.unwrap_or(5_000);
    if interval < LONG_INTERVAL {
        let sentence = "collect statistics less often, in rabbitmq.conf";
        let cost = "figures of the management plugin are up to 30 s old";
        let text = format!("collect_statistics_interval = {LONG_INTERVAL}");
        return Advice::new(Aim::Raise, "collect_statistics_interval", sentence, cost)
            .with_text(text);
    }
    let sentence = "stop the collectors in rabbitmq.conf, and read the Prometheus endpoint instead";
    let cost = "the management plugin shows no rates";
    Advice::new(Aim::Settle, "management_agent.disable_metrics_collector", sentence, cost)
        .with_text("management_agent.disable_metrics_collector = true")
}
