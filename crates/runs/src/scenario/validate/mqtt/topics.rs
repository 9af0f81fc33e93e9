//! Topics, and filters of topics.

use super::super::super::error::{Problem, refuse};

/// Bytes of the longest routing key, which a topic becomes.
const TOPIC_MAX: usize = 255;

/// Checks the topic of messages.
pub(super) fn topic(key: &str, topic: &str) -> Result<(), Problem> {
    text(key, topic)?;
    if topic.contains(['+', '#']) {
        return refuse(key, "`+` and `#` are wildcards of subscriptions: messages have one topic");
    }
    Ok(())
}

/// Checks the filter of a subscription.
pub(super) fn filter(key: &str, filter: &str) -> Result<(), Problem> {
    text(key, filter)?;
    if filter.starts_with("$share/") {
        return refuse(key, "RabbitMQ has no shared subscriptions");
    }
    let levels: Vec<_> = filter.split('/').collect();
    let last = levels.len() - 1;
    let is_wrong = |(at, level): (usize, &&str)| match *level {
        "+" => false,
        "#" => at != last,
        _ => level.contains(['+', '#']),
    };
    if levels.iter().enumerate().any(is_wrong) {
        let reason = "`+` stands for one level and `#` for all that follow: `a/+/c`, `a/#`";
        return refuse(key, reason);
    }
    Ok(())
}

fn text(key: &str, text: &str) -> Result<(), Problem> {
    if text.is_empty() || text.len() > TOPIC_MAX || text.contains('\0') {
        return refuse(key, format!("must have 1 to {TOPIC_MAX} bytes, none of them 0"));
    }
    Ok(())
}
