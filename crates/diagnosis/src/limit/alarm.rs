//! An alarm: the broker blocks publishers until it ends.

use super::{Candidate, LimitKind};
use crate::case::{Case, Source};

/// Judges the alarms. One is always the limit of publishers.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(broker) = &case.broker else { return Vec::new() };
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
