//! Channels that are opened at a high rate.

use super::openers;
use crate::{
    case::Case,
    finding::Severity,
    rules::{
        bound,
        config::CHANNEL_LIFE,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Opened channels per second from which a node suffers.
const HIGH: f64 = 100.0;
/// Opened channels per second that long-lived clients do not reach.
const NOTABLE: f64 = 10.0;
/// Channels for each opened connection that are no churn of their own.
const PER_CONNECTION: f64 = 4.0;
/// Fewest opened channels in the time.
const CHANNELS: f64 = 100.0;

pub(crate) const RULE: Rule = Rule {
    name: "channel-churn",
    title: "life of channels",
    meaning: "clients open a channel for a few messages: each costs a round trip, processes and statistics",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 5, counts: "100 opened channels" },
    threshold: "10 opened channels a second, and 4 for each opened connection: note; 100: warning",
    change: "a channel for each publishing thread, for its life",
    source: "RabbitMQ documentation, channels: high channel churn",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let churn = broker.churn.ok_or_else(|| NotJudged::new("the node does not count channels"))?;
    let opened = churn.channels_opened;
    let is_enough = opened * case.subject.duration.as_secs_f64() >= CHANNELS;
    let is_own = opened >= PER_CONNECTION * churn.connections_opened;
    if !(is_enough && is_own && opened >= NOTABLE) {
        return Ok(Vec::new());
    }
    let severity = if opened >= HIGH { Severity::Warning } else { Severity::Note };
    let rate = look::rate(opened, "channels");
    let connections = look::rate(churn.connections_opened, "connections");
    let advice = Advice::new(
        Aim::Settle,
        CHANNEL_LIFE,
        "open a channel for each thread that publishes, and keep it",
        "a change of the client",
    );
    let draft = openers::of_channels(case, |subjects| {
        Draft::new(severity, subjects, format!("clients open {rate}"))
            .evidence(Look::node(case).says(format!("opened {rate} and {connections}")))
    });
    Ok(vec![draft.advice(advice).bound(bound::messages_only(case, &[], true))])
}
