//! Connections that are opened at a high rate.

use rabbitscope_text::grouped;

use super::openers;
use crate::{
    case::Case,
    finding::Severity,
    rules::{
        bound,
        config::CONNECTION_LIFE,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Opened connections per second from which a node suffers.
const HIGH: f64 = 100.0;
/// Opened connections per second that long-lived clients do not reach.
const NOTABLE: f64 = 5.0;
/// Fewest opened connections in the time.
const CONNECTIONS: f64 = 50.0;

pub(crate) const RULE: Rule = Rule {
    name: "connection-churn",
    title: "life of connections",
    meaning: "clients open a connection for a few messages: each costs round trips, processes and statistics",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 5, counts: "50 opened connections" },
    threshold: "5 opened connections a second: note; 100: warning",
    change: "keep connections open, or a proxy that does",
    source: "RabbitMQ documentation, connections: high connection churn",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let churn =
        broker.churn.ok_or_else(|| NotJudged::new("the node does not count connections"))?;
    let opened = churn.connections_opened;
    let is_enough = opened * case.subject.duration.as_secs_f64() >= CONNECTIONS;
    if !(is_enough && opened >= NOTABLE) {
        return Ok(Vec::new());
    }
    let severity = if opened >= HIGH { Severity::Warning } else { Severity::Note };
    let rate = look::rate(opened, "connections");
    let advice = Advice::new(
        Aim::Settle,
        CONNECTION_LIFE,
        "keep a connection for the life of a program; for programs that cannot (such as PHP), put a proxy on their machine",
        "a change of the client, or one more process",
    );
    let closed = look::rate(churn.connections_closed, "connections");
    let look = Look::node(case);
    let open =
        broker.connections.map(|open| look.ends(format!("open connections: {}", grouped(open))));
    let draft = openers::of_connections(case, |subjects| {
        Draft::new(severity, subjects, format!("clients open {rate}"))
            .evidence(look.says(format!("opened {rate}, closed {closed}")))
    });
    Ok(vec![draft.all_evidence(open).advice(advice).bound(bound::messages_only(case, &[], true))])
}
