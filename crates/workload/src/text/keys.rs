//! Targets of publishers: queues, exchanges and routing keys, topics, with their shares.

use super::lines::{Lines, figure, list, percent, quoted};
use crate::groups::{Model, Names, PublisherGroup, Target};

/// Maximum of routing keys in a list, and of shares.
const KEYS_MAX: usize = 50;
/// Variance of the counts of keys, relative to that of equally frequent ones, from which on they differ.
const UNEVEN: f64 = 4.0;
/// The topic of messages whose topics are unknown.
const UNKNOWN_TOPIC: &str = "unknown";
/// Number of the most frequent keys that fix the exponent of all.
const FITTED: usize = 8;

/// Writes the queues, or the exchange with its keys.
pub(super) fn target(lines: &mut Lines, model: &Model, group: &PublisherGroup) {
    match &group.settings.target {
        Target::Queues(set) => {
            let set = &model.sets.sets[*set];
            match &group.keys.shares[..] {
                [(queue, _)] => lines.text("queue", queue),
                _ => lines.text("queue", &set.name),
            }
            // A link has one queue.
            let is_link = group.settings.protocol.is_link();
            let is_shared = group.count > 1 && group.keys.is_shared && !is_link;
            if is_shared && group.keys.shares.len() > 1 {
                lines.text("member-queues", "all");
            }
            if !is_link && (is_shared || group.count == 1) {
                shares(lines, group, &set.names);
            }
        }
        Target::Exchange(exchange) => {
            if !group.settings.protocol.is_mqtt() {
                lines.text("exchange", exchange);
            }
            keys(lines, group);
        }
    }
}

fn keys(lines: &mut Lines, group: &PublisherGroup) {
    let is_mqtt = group.settings.protocol.is_mqtt();
    let [one, several] =
        if is_mqtt { ["topic", "topics"] } else { ["routing-key", "routing-keys"] };
    let shares_of = &group.keys.shares;
    let names = group.keys.names();
    let is_short = shares_of.len() <= KEYS_MAX || matches!(names, Some(Names::Numbered { .. }));
    if group.keys.is_cut || !is_short {
        lines.comment(&format!("There are more keys; these are the {KEYS_MAX} most frequent."));
        let frequent: Vec<_> =
            shares_of.iter().take(KEYS_MAX).map(|(key, _)| key.clone()).collect();
        lines.key(several, &list(&frequent));
        return shares(lines, group, &Names::Listed(frequent));
    }
    let Some(names) = names else {
        if is_mqtt {
            lines.comment("Assumed: no packet showed the topics.");
            lines.text(one, UNKNOWN_TOPIC);
        }
        return;
    };
    match &names {
        // In a single topic, a placeholder would be replaced.
        Names::One(topic) if is_mqtt && topic.contains('{') => lines.key(several, &list([topic])),
        Names::One(key) if !key.is_empty() => lines.text(one, key),
        Names::Numbered { pattern, from, to } => {
            lines.text(one, pattern);
            lines.key("from", &from.to_string());
            lines.key("to", &to.to_string());
            if group.count > 1 && !group.keys.is_shared {
                return;
            }
            if group.count > 1 {
                lines.text("member-queues", "all");
            }
        }
        Names::Listed(keys) => lines.key(several, &list(keys)),
        Names::One(_) => return,
    }
    shares(lines, group, &names);
}

/// Writes the shares of keys that are not equally frequent: of each, in the order of their names, or of many by an
/// exponent.
fn shares(lines: &mut Lines, group: &PublisherGroup, names: &Names) {
    let shares = &group.keys.shares;
    let names = names.all();
    if names.len() < 2 || !is_uneven(group) {
        return;
    }
    let Some((key, share)) = shares.first() else { return };
    lines.comment(&format!("The most frequent key, {}, has {}.", quoted(key), percent(*share)));
    if names.len() <= KEYS_MAX {
        let least = shares.last().map_or(1.0, |(_, share)| *share);
        let of = |name: &String| {
            let found = shares.iter().find(|(key, _)| key == name);
            found.map_or(least, |(_, share)| *share)
        };
        return lines.list("key-shares", names.iter().map(|name| figure(of(name))));
    }
    lines.comment("Not expressed: which of the keys are frequent. Here the first ones are.");
    lines.key("key-exponent", &figure(exponent(shares)));
}

/// Returns whether keys have shares that chance does not explain.
fn is_uneven(group: &PublisherGroup) -> bool {
    let shares = &group.keys.shares;
    let even = 1.0 / shares.len().max(1) as f64;
    let squares: f64 = shares.iter().map(|(_, share)| (share - even).powi(2)).sum();
    let variance = group.messages as f64 * squares / even;
    shares.len() > 1 && variance > UNEVEN * (shares.len() - 1) as f64
}

/// Returns the exponent by which the most frequent keys fall with their rank (Zipf), fitted to their logarithms.
fn exponent(shares: &[(String, f64)]) -> f64 {
    let points: Vec<(f64, f64)> = (1..=FITTED)
        .zip(shares)
        .map(|(rank, (_, share))| ((rank as f64).ln(), share.max(1e-9).ln()))
        .collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (x, y) = (x / count, y / count);
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        (above + (point.0 - x) * (point.1 - y), below + (point.0 - x).powi(2))
    });
    if below > 0.0 { (-above / below).clamp(0.0, 10.0) } else { 0.0 }
}
