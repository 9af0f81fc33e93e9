//! Channels that hold many unacknowledged messages because their prefetch allows it.

use std::cmp::Reverse;

use rabbitscope_text::grouped;

use crate::{
    case::{Case, ChannelCase},
    finding::{Evidence, Severity},
    rules::{
        config::PREFETCH,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Unacknowledged messages of a channel that cost the node memory and its queues their order.
const MANY: u64 = 50_000;
/// Unacknowledged messages of a channel that a prefetch of 300 does not reach.
const NOTABLE: u64 = 2_000;

pub(crate) const RULE: Rule = Rule {
    name: "unacknowledged",
    title: "unacknowledged messages",
    meaning: "a channel holds many messages that its client has not acknowledged, because its prefetch is large or unlimited",
    needs: &[Need::Clients],
    minimum: Minimum { seconds: 0, counts: "2,000 unacknowledged messages of a channel" },
    threshold: "2,000 on a channel with a prefetch above 1,000 or none: note; 50,000: warning",
    change: "a prefetch of 100 to 300",
    source: "rabbitmq-server#1367; RabbitMQ documentation, consumer prefetch",
    find,
};

fn find(case: &Case) -> Judged {
    let clients = case.clients.as_ref()?;
    let is_held =
        |channel: &&ChannelCase| channel.unacknowledged >= NOTABLE && is_unlimited(channel);
    let mut held: Vec<&ChannelCase> = clients.channels.iter().filter(is_held).collect();
    held.sort_by_key(|channel| Reverse(channel.unacknowledged));
    let Some(worst) = held.first() else { return Ok(Vec::new()) };
    let severity = if worst.unacknowledged >= MANY { Severity::Warning } else { Severity::Note };
    let sentence = format!(
        "{} holds {} unacknowledged messages",
        names::channel(worst),
        grouped(worst.unacknowledged)
    );
    let look = Look::node(case);
    let subjects = held.iter().map(|channel| names::channel(channel)).collect();
    let figures = held.iter().take(3).map(|channel| figure(look, channel));
    Ok(vec![Draft::new(severity, subjects, sentence).all_evidence(figures).advice(advice())])
}

/// Returns whether neither the consumers nor the channel keep the number small.
fn is_unlimited(channel: &ChannelCase) -> bool {
    /// Largest prefetch that is useful on any path.
    const LARGE: u64 = 1_000;
    let is_large = |prefetch: u64| prefetch == 0 || prefetch > LARGE;
    channel.prefetch.is_none_or(is_large) && is_large(channel.global_prefetch)
}

fn figure(look: Look, channel: &ChannelCase) -> Evidence {
    let prefetch = match channel.prefetch {
        None | Some(0) => "no prefetch".to_owned(),
        Some(prefetch) => format!("prefetch {}", grouped(prefetch)),
    };
    let unacknowledged = grouped(channel.unacknowledged);
    let growth = look::rate(channel.unacknowledged_growth, "messages");
    look.ends(format!(
        "{}: {unacknowledged} unacknowledged, growing by {growth}, {prefetch}",
        channel.name
    ))
}

/// Returns the advice for the prefetch of any consumer: one range, whichever side of it the consumer is on.
pub(crate) fn advice() -> Advice {
    let sentence = "set a prefetch of 100 to 300 (basic.qos) before the client consumes";
    let cost =
        "a change of the client; a consumer that fails returns as many messages to the queue";
    Advice::new(Aim::Settle, PREFETCH, sentence, cost).with_text("basic.qos(prefetch_count = 200)")
}
