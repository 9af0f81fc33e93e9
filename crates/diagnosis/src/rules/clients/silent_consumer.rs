//! Consumers that hold as many messages as they may and acknowledge none.

use rabbitscope_text::grouped;

use crate::{
    case::{Case, ChannelCase, Queues},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::Look,
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "silent-consumer",
    title: "acknowledgements of consumers",
    meaning: "a consumer holds all messages that its prefetch allows and acknowledges none, while messages are ready",
    needs: &[Need::Clients, Need::Queues],
    minimum: Minimum { seconds: 10, counts: "statistics of the channel" },
    threshold: "no acknowledgement in the time: note (work on one message can take longer)",
    change: "the client: look for a hang, or for a missing acknowledgement",
    source: "RabbitMQ documentation, consumers: delivery acknowledgement timeout",
    find,
};

fn find(case: &Case) -> Judged {
    let (clients, queues) = (case.clients.as_ref()?, case.queues.as_ref()?);
    let limited = || clients.channels.iter().filter(|channel| allowed(channel) > 0);
    if limited().next().is_some()
        && limited().all(|channel| channel.acknowledged_per_second.is_none())
    {
        return Err(NotJudged::new("the node counts no acknowledgements of channels"));
    }
    let is_silent = |channel: &&ChannelCase| {
        let is_still = channel.acknowledged_per_second.is_some_and(|rate| rate <= 0.0);
        is_still && channel.unacknowledged >= allowed(channel) && has_messages(queues, channel)
    };
    let silent: Vec<&ChannelCase> = limited().filter(is_silent).collect();
    let Some(worst) = silent.iter().max_by_key(|channel| channel.unacknowledged) else {
        return Ok(Vec::new());
    };
    let sentence =
        format!("{} acknowledges nothing while messages are ready", names::channel(worst));
    let held = grouped(worst.unacknowledged);
    let advice = Advice::new(
        Aim::Settle,
        "acknowledgements of the client",
        "look for a hang in the client, or for a delivery that it never acknowledges; more consumers help if its work is slow",
        "a change of the client",
    );
    let look = Look::node(case);
    let subjects = silent.iter().map(|channel| names::channel(channel)).collect();
    let draft = Draft::new(Severity::Note, subjects, sentence)
        .evidence(look.says("no acknowledgement in this time"))
        .evidence(look.ends(format!("it holds {held} messages, as many as its prefetch allows")))
        .advice(advice);
    Ok(vec![draft])
}

/// Returns the most messages that a channel's consumers may hold. 0 without a limit.
fn allowed(channel: &ChannelCase) -> u64 {
    let acknowledging = channel.consumers.saturating_sub(channel.consumers_without_ack);
    channel.prefetch.unwrap_or(0).saturating_mul(acknowledging)
}

fn has_messages(queues: &Queues, channel: &ChannelCase) -> bool {
    queues.rows.iter().any(|queue| {
        queue.ready > 0
            && queue.vhost == channel.vhost
            && channel.consumed_queues.contains(&queue.name)
    })
}
