//! Policies that mirror classic queues.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::Look,
        rule::{Judged, Minimum, Need, Rule},
        version::Version,
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "mirroring",
    title: "mirrored queues",
    meaning: "a policy mirrors classic queues: each message passes all mirrors, and 4.0 removed mirroring",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 0, counts: "one look; a version" },
    threshold: "a policy with `ha-mode`: note; warning in a cluster before 4.0",
    change: "quorum queues",
    source: "rabbitmq-server#2021; RabbitMQ documentation, migration of mirrored queues",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    if broker.mirroring_policies.is_empty() {
        return Ok(Vec::new());
    }
    let is_gone = Version::of(broker)? >= Version::new(4, 0);
    let is_in_use = !is_gone && broker.nodes.len() > 1;
    let severity = if is_in_use { Severity::Warning } else { Severity::Note };
    let sentence = match (is_gone, is_in_use) {
        (true, _) => {
            "a policy asks for mirrors, which this version does not have: the queues have one replica"
        }
        (_, true) => {
            "a policy mirrors classic queues: each message passes one mirror after the other"
        }
        (_, false) => {
            "a policy asks for mirrors, and there is no other node; version 4.0 has no mirrors"
        }
    };
    let advice = Advice::new(
        Aim::Settle,
        "type of mirrored queues",
        "declare quorum queues (argument x-queue-type) or streams, move the messages, and remove ha-mode from the policy",
        "queues are declared anew; quorum queues lack priorities beyond two and transient messages",
    );
    let nodes = format!("{} nodes in the cluster", broker.nodes.len());
    let draft = Draft::new(severity, broker.mirroring_policies.clone(), sentence)
        .evidence(Look::node(case).ends(nodes))
        .advice(advice.with_text("x-queue-type: quorum"));
    Ok(vec![draft])
}
