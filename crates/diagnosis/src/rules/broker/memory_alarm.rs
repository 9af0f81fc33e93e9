//! An alarm of memory, which blocks publishers.

use rabbitscope_text::{grouped, human_bytes};

use crate::{
    case::{Broker, Case},
    finding::{Evidence, Severity},
    rules::{
        config::WATERMARK,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
        version::Version,
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "memory-alarm",
    title: "memory against its alarm",
    meaning: "an alarm of memory blocks every connection that publishes",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "any alarm of memory in the cluster: critical",
    change: "consume what is queued; `vm_memory_high_watermark.relative` (0.4 up to 3.13, 0.6 from 4.0)",
    source: "RabbitMQ documentation, memory alarms",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let alarms = broker.alarms.iter().filter(|alarm| alarm.starts_with("memory"));
    let subjects: Vec<String> = alarms.map(|alarm| node(alarm, &case.subject.node)).collect();
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    let sentence = "an alarm of memory blocks all publishers of the cluster";
    let draft = Draft::new(Severity::Critical, subjects, sentence)
        .all_evidence(figures(Look::node(case), broker));
    Ok(vec![draft.advice(advice(broker))])
}

/// Returns the node of an alarm: `memory on rabbit@b`, or this one.
pub(crate) fn node(alarm: &str, this: &str) -> String {
    alarm.split_once(" on ").map_or(this, |(_, node)| node).to_owned()
}

fn figures(look: Look, broker: &Broker) -> Vec<Evidence> {
    let memory = broker.memory.map(|memory| {
        let (used, limit) = (human_bytes(memory.used), human_bytes(memory.limit));
        look.ends(format!("memory {used} of {limit} ({})", look::percent(memory.share())))
    });
    let mut figures = vec![look.ends(format!("alarms: {}", broker.alarms.join(", ")))];
    figures.extend(memory);
    figures.extend(blocked(look, broker));
    figures
}

/// Returns the number of connections that an alarm blocks.
pub(crate) fn blocked(look: Look, broker: &Broker) -> Option<Evidence> {
    let blocked = broker.blocked_connections.filter(|blocked| *blocked > 0)?;
    Some(look.ends(format!("blocked connections: {}", grouped(blocked))))
}

/// Returns the advice, with a watermark above the present one if there is room for it.
fn advice(broker: &Broker) -> Advice {
    let sentence = "consume or purge what is queued, then raise the watermark in rabbitmq.conf if the machine has memory to spare";
    let cost = "the node can use that much memory, and must not compete for it";
    let advice = Advice::new(Aim::Raise, WATERMARK, sentence, cost);
    let is_old = Version::parse(&broker.version).is_none_or(|version| version < Version::new(4, 0));
    let (default, higher) = if is_old { (0.4, 0.6) } else { (0.6, 0.7) };
    let present = broker.settings.other.get("rabbit.vm_memory_high_watermark");
    let present = present.map_or(Some(default), |term| term.trim().parse::<f64>().ok());
    match present {
        Some(share) if share < higher => {
            advice.with_text(format!("vm_memory_high_watermark.relative = {higher}"))
        }
        _ => advice,
    }
}
