//! An alarm of disk space, which blocks publishers.

use rabbitscope_text::human_bytes;

use super::memory_alarm::{blocked, node};
use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::Look,
        rule::{Judged, Minimum, Need, Rule},
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "disk-alarm",
    title: "disk space against its alarm",
    meaning: "an alarm of disk space blocks every connection that publishes",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "any alarm of a disk in the cluster, or free space below the limit: critical",
    change: "free space; a limit that fits the disk (`disk_free_limit.absolute`, 50 MB by default)",
    source: "RabbitMQ documentation, disk alarms",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let alarms = broker.alarms.iter().filter(|alarm| alarm.starts_with("disk"));
    let mut subjects: Vec<String> = alarms.map(|alarm| node(alarm, &case.subject.node)).collect();
    let space = broker.disk_free_bytes.zip(broker.disk_limit_bytes);
    if space.is_some_and(|(free, limit)| free < limit) && subjects.is_empty() {
        subjects.push(case.subject.node.clone());
    }
    if subjects.is_empty() {
        return Ok(Vec::new());
    }
    let look = Look::node(case);
    let free = space.map(|(free, limit)| {
        look.ends(format!("{} are free, the limit is {}", human_bytes(free), human_bytes(limit)))
    });
    let sentence = "an alarm of disk space blocks all publishers of the cluster";
    let advice = Advice::new(
        Aim::Settle,
        "disk_free_limit",
        "free space on the disk, or attach a larger one; lower disk_free_limit.absolute only if it exceeds what the node can write before somebody acts",
        "a full disk stops the node and can lose messages",
    );
    let draft = Draft::new(Severity::Critical, subjects, sentence)
        .all_evidence(free)
        .all_evidence(blocked(look, broker))
        .advice(advice);
    Ok(vec![draft])
}
