//! Messages that are delivered again and again.

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

/// Fewest redeliveries in the time.
const MESSAGES: f64 = 100.0;
/// Share of the deliveries: on average each message is delivered twice.
const SHARE: f64 = 0.5;

pub(crate) const RULE: Rule = Rule {
    name: "redeliveries",
    title: "redelivered messages",
    meaning: "consumers return messages to the queue, which delivers them again: a loop",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 5, counts: "100 redeliveries" },
    threshold: "half of all deliveries: warning",
    change: "`delivery-limit` with a dead letter exchange, or no requeue",
    source: "RabbitMQ documentation, consumer acknowledgements: requeue and redelivery loops",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let (Some(redelivered), Some(delivered)) = (broker.rates.redelivered, broker.rates.delivered)
    else {
        return Err(NotJudged::new("deliveries are not counted"));
    };
    let delivered = delivered.max(redelivered);
    let is_many = redelivered * case.subject.duration.as_secs_f64() >= MESSAGES;
    if !(is_many && redelivered >= SHARE * delivered) {
        return Ok(Vec::new());
    }
    let share = redelivered / delivered;
    let sentence = format!("{} of the deliveries are repeated", look::percent(share));
    let advice = Advice::new(
        Aim::Settle,
        "delivery-limit",
        "reject messages that cannot be processed without requeue, or limit the deliveries of quorum queues by a policy",
        "messages beyond the limit are dropped, or go to the dead letter exchange",
    );
    let text = "rabbitmqctl set_policy limit '^NAME$' '{\"delivery-limit\":5}' --apply-to queues";
    let figure = format!(
        "{} of {} are repeated",
        look::rate(redelivered, "messages"),
        look::rate(delivered, "messages")
    );
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(Look::node(case).says(figure))
        .advice(advice.with_text(text))
        .bound(bound::recovery(share, "deliveries are repeated"));
    Ok(vec![draft])
}
