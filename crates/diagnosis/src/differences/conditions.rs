//! Reasons why two checks are not comparable in all. They come first.

use rabbitscope_text::short_time;

use crate::{case::Source, report::CheckReport};

/// Ratio of the durations from which they are named as different.
const LONGER: f64 = 1.5;

/// Returns the reasons, in words.
pub(super) fn conditions(old: &CheckReport, new: &CheckReport) -> Vec<String> {
    let mut found = Vec::new();
    if old.node != new.node {
        found.push(format!("the baseline is of another node: {}", named(&old.node)));
    }
    if old.rabbitmq != new.rabbitmq {
        let (old, new) = (named(&old.rabbitmq), named(&new.rabbitmq));
        found.push(format!("RabbitMQ was {old} and is {new}"));
    }
    if is_longer(old.duration_nanos, new.duration_nanos) {
        let (old, new) = (short_time(old.duration_nanos), short_time(new.duration_nanos));
        found.push(format!("the baseline lasted {old}, this check {new}"));
    }
    let is_empty = |report: &CheckReport| report.figures.values.is_empty();
    if is_empty(old) {
        found.push("the baseline has no figures to compare".to_owned());
    }
    found.extend(lacks("the baseline", old, new));
    found.extend(lacks("this check", new, old));
    found
}

fn is_longer(one: u64, other: u64) -> bool {
    let (short, long) = (one.min(other) as f64, one.max(other) as f64);
    long > LONGER * short
}

/// Names the sources that only one check could read.
fn lacks(which: &str, report: &CheckReport, other: &CheckReport) -> Option<String> {
    let is_unread = |report: &CheckReport, source: Source| {
        report.unread.iter().any(|part| part.source == source)
    };
    let mut names: Vec<&str> = Vec::new();
    for part in &report.unread {
        let name = part.source.name();
        if !is_unread(other, part.source) && !names.contains(&name) {
            names.push(name);
        }
    }
    let listed = names.join(", ");
    (!names.is_empty())
        .then(|| format!("{which} could not read: {listed}; their figures are not compared"))
}

fn named(text: &str) -> &str {
    if text.is_empty() { "unknown" } else { text }
}
