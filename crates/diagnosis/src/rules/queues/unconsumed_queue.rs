//! Queues that grow and have no consumer.

use rabbitscope_text::{escapes::shell_quoted, grouped};

use crate::{
    case::{Case, QueueCase, QueueKind},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Ready messages from which the queue is more than a pause of its consumer.
const LONG: u64 = 10_000;
/// Growth in messages per second.
const GROWTH: f64 = 1.0;

pub(crate) const RULE: Rule = Rule {
    name: "unconsumed-queue",
    title: "consumers of queues",
    meaning: "a queue grows and has no consumer: it takes memory or disk until an alarm",
    needs: &[Need::Queues],
    minimum: Minimum { seconds: 5, counts: "10,000 ready messages" },
    threshold: "no consumer, growth of a message a second: note",
    change: "a consumer, or `max-length` or `message-ttl` by a policy",
    source: "RabbitMQ documentation, queue length limit; the length is a proposal",
    find,
};

fn find(case: &Case) -> Judged {
    let queues = case.queues.as_ref()?;
    let is_growing = |queue: &&QueueCase| {
        let is_read = queue.delivered_per_second.is_some_and(|rate| rate > 0.0);
        let is_unread = queue.consumers == 0 && !is_read && queue.kind != QueueKind::Stream;
        is_unread && queue.ready >= LONG && queue.ready_growth >= GROWTH
    };
    let mut growing: Vec<&QueueCase> = queues.rows.iter().filter(is_growing).collect();
    growing.sort_by_key(|queue| std::cmp::Reverse(queue.ready));
    let Some(worst) = growing.first() else { return Ok(Vec::new()) };
    let sentence = format!("{} grows and has no consumer", names::queue(worst));
    let figure = format!(
        "{} ready messages, {} more",
        grouped(worst.ready),
        look::rate(worst.ready_growth, "messages")
    );
    let advice = Advice::new(
        Aim::Settle,
        "max-length",
        "start its consumer, delete it, or limit its length or the age of its messages by a policy",
        "the oldest messages are dropped",
    );
    let text = format!(
        "rabbitmqctl set_policy -p {} limited '^NAME$' '{{\"max-length\":100000}}' --apply-to queues",
        shell_quoted(&worst.vhost)
    );
    let subjects = growing.iter().map(|queue| names::queue(queue)).collect();
    let draft = Draft::new(Severity::Note, subjects, sentence)
        .evidence(Look::node(case).ends(figure))
        .advice(advice.with_text(text));
    Ok(vec![draft])
}
