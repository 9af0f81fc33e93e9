//! Quorum queues with very many messages.

use rabbitscope_text::grouped;

use crate::{
    case::{Case, QueueCase, QueueKind},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::Look,
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Messages from which RabbitMQ's documentation advises against quorum queues.
const LONG: u64 = 5_000_000;

pub(crate) const RULE: Rule = Rule {
    name: "long-quorum-queue",
    title: "length of quorum queues",
    meaning: "a quorum queue holds millions of messages: each takes memory, and a restart reads them all",
    needs: &[Need::Queues],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "5 million ready messages: note",
    change: "a stream",
    source: "RabbitMQ documentation, quorum queues: when not to use them",
    find,
};

fn find(case: &Case) -> Judged {
    let queues = case.queues.as_ref()?;
    let is_long = |queue: &&QueueCase| queue.kind == QueueKind::Quorum && queue.ready >= LONG;
    let long: Vec<&QueueCase> = queues.rows.iter().filter(is_long).collect();
    let Some(longest) = long.iter().max_by_key(|queue| queue.ready) else {
        return Ok(Vec::new());
    };
    let sentence = format!("{} holds {} messages", names::queue(longest), grouped(longest.ready));
    let advice = Advice::new(
        Aim::Settle,
        "type of long queues",
        "use a stream for long backlogs (argument x-queue-type), or more consumers",
        "a stream is read from an offset and is not emptied by consumers",
    );
    let subjects = long.iter().map(|queue| names::queue(queue)).collect();
    let figure = format!("{} ready messages in the longest", grouped(longest.ready));
    let draft = Draft::new(Severity::Note, subjects, sentence)
        .evidence(Look::node(case).ends(figure))
        .advice(advice.with_text("x-queue-type: stream"));
    Ok(vec![draft])
}
