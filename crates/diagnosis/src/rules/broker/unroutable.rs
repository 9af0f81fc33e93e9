//! Published messages that no queue accepted.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Fewest lost messages in the time.
const MESSAGES: f64 = 50.0;
/// Share of the published messages from which losing them is hardly intended.
const SHARE: f64 = 0.01;
/// Unroutable messages for each possible answer, up to which they may all be direct replies.
const REPLIES: f64 = 1.1;

pub(crate) const RULE: Rule = Rule {
    name: "unroutable",
    title: "routing to queues",
    meaning: "published messages reach no queue: they are dropped or returned",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 5, counts: "50 such messages" },
    threshold: "any such message: note; 1 % of the published ones: warning, unless channels that also consume publish as many (the node counts direct replies as unroutable)",
    change: "a binding, or an alternate exchange",
    source: "RabbitMQ documentation, publishers: unroutable messages; rabbitmq-server#9632, rabbitmq-server#6124",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let Some(unroutable) = broker.rates.unroutable else {
        return Err(NotJudged::new("unroutable messages are not counted"));
    };
    let is_enough = unroutable * case.subject.duration.as_secs_f64() >= MESSAGES;
    if !is_enough {
        return Ok(Vec::new());
    }
    let published = broker.rates.published.unwrap_or(0.0).max(unroutable);
    let share = unroutable / published;
    let are_replies = share <= REPLIES * answers(case);
    let is_loss = share >= SHARE && !are_replies;
    let severity = if is_loss { Severity::Warning } else { Severity::Note };
    let reach = format!("{} of the published messages reach no queue", look::percent(share));
    let sentence = if are_replies {
        format!("{reach}; they may be direct replies (amq.rabbitmq.reply-to), which count as such")
    } else {
        reach
    };
    let advice = Advice::new(
        Aim::Settle,
        "bindings",
        "bind a queue to the exchange, or set an alternate exchange; publish with the flag mandatory to learn the names",
        "queues that nobody consumes grow",
    );
    let of = look::rate(published, "messages");
    let figure = format!("{} of {of} are unroutable", look::rate(unroutable, "messages"));
    let text = "rabbitmqctl set_policy unrouted '^EXCHANGE$' '{\"alternate-exchange\":\"unrouted\"}' --apply-to exchanges";
    let draft = Draft::new(severity, vec![case.subject.node.clone()], sentence)
        .evidence(Look::node(case).says(figure))
        .advice(advice.with_text(text));
    Ok(vec![draft])
}

/// Returns the share of the published messages that may be answers: a channel publishes at most one for each message that
/// it gets. Both rates of a channel were written at the same time, unlike the node's.
fn answers(case: &Case) -> f64 {
    let Ok(clients) = &case.clients else { return 0.0 };
    let rates = clients.channels.iter().map(|channel| {
        let published = channel.published_per_second.unwrap_or(0.0);
        (published, published.min(channel.delivered_per_second.unwrap_or(0.0)))
    });
    let (published, answers) = rates.fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    if published > 0.0 { answers / published } else { 0.0 }
}
