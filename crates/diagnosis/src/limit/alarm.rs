//! An alarm: the broker blocks publishers until it ends.

use super::{Candidate, LimitKind};
use crate::case::{Case, Source};

/// Judges the alarms. One is always the limit of publishers.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(broker) = &case.broker else { return blocked(case) };
    if broker.alarms.is_empty() {
        return Vec::new();
    }
    let alarms = broker.alarms.join(", ");
    let blocked = match broker.blocked_connections {
        None | Some(0) => String::new(),
        Some(blocked) => format!("; {blocked} connections blocked"),
    };
    let sentence = format!("an alarm ({alarms}) blocks every connection that publishes");
    let figure = format!("alarms: {alarms}{blocked}");
    vec![Candidate::new(LimitKind::Alarm, alarms, 1.0, 0.5, sentence).with(Source::Node, figure)]
}

/// Judges the broker's own word on a connection. It says nothing about other nodes, and may have come before the check.
fn blocked(case: &Case) -> Vec<Candidate> {
    let Some(reason) = case.over_amqp().and_then(|amqp| amqp.blocked.as_deref()) else {
        return Vec::new();
    };
    let sentence = "the broker blocks connections that publish".to_owned();
    let candidate = Candidate::new(LimitKind::Alarm, reason, 1.0, 0.5, sentence);
    vec![candidate.with(Source::Amqp, format!("connection.blocked: {reason}"))]
}
