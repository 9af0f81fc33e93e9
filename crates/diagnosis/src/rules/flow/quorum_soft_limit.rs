//! Channels that wait for a quorum queue although its log has time.

use super::chain::{Root, roots};
use crate::{
    case::{Blocker, Case, Flow},
    finding::{Evidence, Severity},
    rules::{
        config::advanced,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
        version::Version,
    },
};

/// Share of the log's time, waiting for the disk included, up to which it has time.
const IDLE: f64 = 0.5;
/// Share of the looks from which waiting is more than bursts of a paced publisher.
const OFTEN: f64 = 0.6;

pub(crate) const RULE: Rule = Rule {
    name: "quorum-soft-limit",
    title: "commands in flight to quorum queues",
    meaning: "a channel may have 32 commands in flight to a quorum queue, and waits although the log has time",
    needs: &[Need::Flow, Need::Waits, Need::Cpu],
    minimum: Minimum { seconds: 5, counts: "20 looks at a process" },
    threshold: "a channel waits in 30 % of the looks for a quorum queue, and the log is busy less than half of the time: note; 60 % of the looks: warning",
    change: "`quorum_commands_soft_limit` in advanced.config; `quorum_queue.commands_soft_limit` from 4.3",
    source: "RabbitMQ documentation, quorum queues; rabbitmq-server#2334",
    find,
};

fn find(case: &Case) -> Judged {
    let flow = case.flow.as_ref()?;
    let (busy, figures) = log_work(case)?;
    if busy > IDLE {
        return Ok(Vec::new());
    }
    let roots = roots(flow);
    let queues = roots.iter().filter_map(|root| match root.blocker {
        Blocker::Queue(vhost, name) => Some((root, names::in_vhost(name, vhost))),
        _ => None,
    });
    Ok(queues
        .map(|(root, name)| draft(case, flow, root, name).all_evidence(figures.clone()))
        .collect())
}

/// Returns the busy share of the log, waits for the disk included, with the figures.
fn log_work(case: &Case) -> Result<(f64, Vec<Evidence>), NotJudged> {
    let (waits, cpu) = (case.waits.as_ref()?, case.cpu.as_ref()?);
    let blocked = waits.processes.iter().filter(|process| process.role == "ra_log");
    let blocked = blocked.map(|process| process.blocked_share).fold(0.0, f64::max);
    let used = cpu.processes.iter().filter(|process| process.role == "ra_log");
    let used = used.map(|process| process.cores).fold(0.0, f64::max);
    let waiting = format!("the log waits for the disk {} of the time", look::percent(blocked));
    let working = format!("the log uses {}", look::cores(used));
    let figures = vec![Look::waits(waits).says(waiting), Look::cpu(cpu).says(working)];
    Ok((blocked + used, figures))
}

fn draft(case: &Case, flow: &Flow, root: &Root<'_>, name: String) -> Draft {
    let sentence = format!("channels wait for the quorum queue {name} although its log has time");
    let advice = Advice::new(
        Aim::Raise,
        "quorum_commands_soft_limit",
        "allow a channel more commands in flight to a quorum queue",
        "a slow queue holds more messages in memory",
    );
    let version = case.broker.as_ref().ok().and_then(|broker| Version::parse(&broker.version));
    let text = if version.is_some_and(|version| version >= Version::new(4, 3)) {
        "quorum_queue.commands_soft_limit = 256".to_owned()
    } else {
        advanced("quorum_commands_soft_limit", "256")
    };
    let severity = if root.worst() >= OFTEN { Severity::Warning } else { Severity::Note };
    Draft::new(severity, vec![name], sentence)
        .all_evidence(root.evidence(case, flow))
        .advice(advice.with_text(text))
}
