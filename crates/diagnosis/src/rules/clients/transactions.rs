//! Channels that publish in transactions.

use crate::{
    case::{Case, ChannelCase},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Published messages per second from which the commits cost throughput.
const COSTLY_RATE: f64 = 1.0;

pub(crate) const RULE: Rule = Rule {
    name: "transactions",
    title: "confirmation of publishes",
    meaning: "a channel publishes in transactions, up to 250 times slower than with confirms",
    needs: &[Need::Clients],
    minimum: Minimum { seconds: 5, counts: "one channel" },
    threshold: "any such channel: note; warning from one message a second",
    change: "publisher confirms",
    source: "RabbitMQ documentation, confirms",
    find,
};

fn find(case: &Case) -> Judged {
    let clients = case.clients.as_ref()?;
    let rate = |channel: &ChannelCase| channel.published_per_second.unwrap_or(0.0);
    let mut channels: Vec<&ChannelCase> =
        clients.channels.iter().filter(|channel| channel.is_transactional).collect();
    channels.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    let Some(worst) = channels.first() else { return Ok(Vec::new()) };
    let published: f64 = channels.iter().map(|channel| rate(channel)).sum();
    let severity = if published >= COSTLY_RATE { Severity::Warning } else { Severity::Note };
    let advice = Advice::new(
        Aim::Settle,
        "confirm.select",
        "use publisher confirms (confirm.select) with several messages in flight instead of tx.select and tx.commit",
        "a change of the client: it must repeat what was not confirmed",
    );
    let sentence = format!("{} publishes in transactions", names::channel(worst));
    let subjects = channels.iter().map(|channel| names::channel(channel)).collect();
    let figure = format!("{} on transactional channels", look::rate(published, "messages"));
    let draft = Draft::new(severity, subjects, sentence)
        .evidence(Look::node(case).says(figure))
        .advice(advice.with_text("confirm.select"));
    Ok(vec![draft])
}
