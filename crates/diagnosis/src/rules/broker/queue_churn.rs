//! Queues that are declared, created and deleted at a high rate.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Created or deleted queues per second. Each is a transaction of the metadata store on all nodes.
const CREATED: f64 = 10.0;
/// Declarations per second that create nothing: clients declare before they publish.
const DECLARED: f64 = 100.0;
/// Fewest of them in the time.
const COUNT: f64 = 100.0;

pub(crate) const RULE: Rule = Rule {
    name: "queue-churn",
    title: "life of queues",
    meaning: "clients declare or delete queues at a high rate: each change is a transaction of the whole cluster",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 5, counts: "100 declarations or deletions" },
    threshold: "10 created or deleted queues a second, or 100 declarations: note",
    change: "declare once; `amq.rabbitmq.reply-to` for answers",
    source: "RabbitMQ documentation, monitoring: queue churn, and direct reply-to; the thresholds are proposals",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let churn = broker.churn.ok_or_else(|| NotJudged::new("the node does not count queues"))?;
    let changed = churn.queues_created.max(churn.queues_deleted);
    let seconds = case.subject.duration.as_secs_f64();
    let is_changed = changed >= CREATED && changed * seconds >= COUNT;
    let is_declared = churn.queues_declared >= DECLARED && churn.queues_declared * seconds >= COUNT;
    let (sentence, advice) = match (is_changed, is_declared) {
        (true, _) => (
            format!("clients create or delete {}", look::rate(changed, "queues")),
            "keep queues for the life of a client; take amq.rabbitmq.reply-to for answers to requests",
        ),
        (_, true) => (
            format!("clients declare {} that exist", look::rate(churn.queues_declared, "queues")),
            "declare a queue once for each connection, not before each message",
        ),
        _ => return Ok(Vec::new()),
    };
    let figure = format!(
        "declared {}, created {}, deleted {}",
        look::rate(churn.queues_declared, "queues"),
        look::rate(churn.queues_created, "queues"),
        look::rate(churn.queues_deleted, "queues"),
    );
    let advice = Advice::new(Aim::Settle, "life of queues", advice, "a change of the client");
    let draft = Draft::new(Severity::Note, vec![case.subject.node.clone()], sentence)
        .evidence(Look::node(case).says(figure))
        .advice(advice)
        .bound(bound::messages_only(case, &[], true));
    Ok(vec![draft])
}
