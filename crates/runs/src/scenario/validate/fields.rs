//! Checks of single values, used by several parts of a scenario.

use std::collections::{BTreeMap, HashSet};

use super::super::{
    error::{Problem, allowed, refuse, refuse_at},
    model::{BrokerSpec, FieldValue, QueueSpec, QueueType, UNSET, has_placeholder},
};
use crate::scenario::validate::context::Context;

/// Reason for refusing both keys for objects that may exist before the run.
pub(super) const PREDECLARED_OR_IF_MISSING: &str = "is declared when it is not there, and what is `predeclared` never is: leave one of the two out";

/// Checks a rate in messages per second.
pub(super) fn rate(rate: Option<f64>) -> Result<(), Problem> {
    if rate.is_some_and(|rate| !(0.001..=10_000_000.0).contains(&rate)) {
        let reason = "must be from 0.001 to 10000000 messages a second for each member of the \
                      group; leave it out for as fast as it goes";
        return refuse("rate", reason);
    }
    Ok(())
}

/// Checks shares, which are relative to their sum.
pub(super) fn shares(key: &str, shares: impl ExactSizeIterator<Item = f64>) -> Result<(), Problem> {
    if !(1..=10_000).contains(&shares.len()) {
        return refuse(key, "must have from 1 to 10000 shares");
    }
    let mut shares = shares;
    if shares.any(|share| !(share > 0.0 && share <= 1e9)) {
        return refuse(key, "has a share that is not above 0 and at most 1000000000");
    }
    Ok(())
}

/// Gives a group without a name one from its kind and position.
pub(super) fn name(name: &mut String, kind: &str, index: usize) {
    if name.is_empty() {
        *name = format!("{kind}-{index}");
    }
}

/// Checks the numbers for the placeholder in `text`, which stands at `key`, and fills in the first one. Placeholder and
/// numbers need each other. Returns whether there are numbers.
pub(super) fn numbers(
    key: &str,
    text: Option<&str>,
    from: &mut Option<u32>,
    to: Option<u32>,
) -> Result<bool, Problem> {
    let has_place = text.is_some_and(has_placeholder);
    match (has_place, *from, to) {
        (false, None, None) => Ok(false),
        (false, Some(_), _) => refuse("from", format!("needs a place in `{key}`: `q-{{}}`")),
        (false, None, Some(_)) => refuse("to", format!("needs a place in `{key}`: `q-{{}}`")),
        (true, _, None) => refuse("to", format!("is missing: `{key}` has a place for numbers")),
        (true, _, Some(to)) => {
            let first = *from.get_or_insert(1);
            if to < first || to - first >= 100_000 {
                return refuse("to", format!("must be from {first} to {}", first + 99_999));
            }
            Ok(true)
        }
    }
}

/// Returns the key of a text with a placeholder, if there is one.
pub(super) fn placeholder_in(table: &BTreeMap<String, FieldValue>) -> Option<&str> {
    table.iter().find(|(_, value)| value.has_placeholder()).map(|(key, _)| key.as_str())
}

/// Refuses placeholders in a table at `key` in which they are not replaced.
pub(super) fn no_placeholder(
    key: &str,
    table: &BTreeMap<String, FieldValue>,
    reason: &str,
) -> Result<(), Problem> {
    match placeholder_in(table) {
        None => Ok(()),
        Some(name) => refuse_at(&[key, name], format!("`{{}}` is not replaced here: {reason}")),
    }
}

/// Checks values that must have no parts.
pub(super) fn simple_values(table: &BTreeMap<String, FieldValue>) -> Result<(), Problem> {
    let has_parts =
        |value: &&FieldValue| matches!(value, FieldValue::Array(_) | FieldValue::Table(_));
    match table.iter().find(|(_, value)| has_parts(value)) {
        None => Ok(()),
        Some((name, _)) => {
            refuse(name, "must be a text, a number, a boolean or a time: AMQP 1.0 has no others")
        }
    }
}

/// Checks a number that must be at least 1.
pub(super) fn at_least_one<N: PartialOrd + From<u8>>(
    key: &str,
    number: Option<N>,
) -> Result<(), Problem> {
    if number.is_some_and(|number| number < N::from(1)) {
        return refuse(key, "must be at least 1; leave it out for no limit");
    }
    Ok(())
}

/// The spread of a group over connections and channels.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) count: u32,
    pub(super) connections: u32,
    pub(super) channels: u32,
}

impl Spread {
    /// Returns whether several members use the same channel.
    pub(super) fn is_shared(self) -> bool {
        self.count.div_ceil(self.connections) > self.channels
    }
}

/// Most channels that RabbitMQ permits on a connection by default.
pub(super) const CHANNELS_MAX: u32 = 2047;

/// Checks count, connections and channels for each connection. Without `channels`, each member gets one.
pub(super) fn spread(count: u32, connections: u32, channels: &mut u32) -> Result<Spread, Problem> {
    if !(1..=100_000).contains(&count) {
        return refuse("count", "must be from 1 to 100000");
    }
    if !(1..=count).contains(&connections) {
        let reason = format!("must be from 1 to `count`, which is {count}");
        return refuse("connections", reason);
    }
    let most = count.div_ceil(connections);
    if *channels == UNSET {
        *channels = most;
    }
    if !(1..=most.min(CHANNELS_MAX)).contains(channels) {
        let reason = format!(
            "must be from 1 to {CHANNELS_MAX} (RabbitMQ's limit for a connection) and at most {most}, the \
             members on each connection"
        );
        return refuse("channels", reason);
    }
    Ok(Spread { count, connections, channels: *channels })
}

/// Largest number of publishers or readers of the stream protocol on a connection.
pub(super) const STREAM_MEMBERS: u32 = 255;

/// Checks the spread of members of the stream protocol, which has numbers for them in place of channels.
pub(super) fn stream_members(count: u32, connections: u32, channels: u32) -> Result<(), Problem> {
    let most = count.div_ceil(connections.max(1));
    if channels != UNSET && channels != most {
        return refuse("channels", "streams have no channels: leave it out");
    }
    if most > STREAM_MEMBERS {
        let least = count.div_ceil(STREAM_MEMBERS);
        let reason = format!(
            "leaves {most} members on a connection, and the stream protocol has numbers for {STREAM_MEMBERS}: at least \
             {least} connections are needed"
        );
        return refuse("connections", reason);
    }
    Ok(())
}

/// Sessions that RabbitMQ permits on a connection of AMQP 1.0 by default.
const AMQP10_SESSIONS: u32 = 64;

/// Checks the spread of members of AMQP 1.0, each of which has a session of its own.
pub(super) fn amqp10_members(count: u32, connections: u32, channels: u32) -> Result<(), Problem> {
    let most = count.div_ceil(connections.max(1));
    if channels != UNSET && channels != most {
        return refuse(
            "channels",
            "each member of AMQP 1.0 has a session of its own: leave it out",
        );
    }
    if most > AMQP10_SESSIONS {
        let least = count.div_ceil(AMQP10_SESSIONS);
        let reason = format!(
            "leaves {most} members on a connection, and RabbitMQ permits {AMQP10_SESSIONS} sessions of AMQP 1.0: at \
             least {least} connections are needed"
        );
        return refuse("connections", reason);
    }
    Ok(())
}

/// Checks the values of messages by which readers of a stream filter.
pub(super) fn filter_values(values: &[String]) -> Result<(), Problem> {
    if values.is_empty() {
        return refuse("filter-values", "has no value: leave it out");
    }
    if values.len() > 1000 {
        return refuse("filter-values", "must have at most 1000 values");
    }
    // An annotation of a message has room for so many.
    let is_unfit = |value: &&String| value.is_empty() || value.len() > 200;
    match values.iter().find(is_unfit) {
        Some(value) => refuse(
            "filter-values",
            format!("must have 1 to 200 bytes each, and `{value}` has {}", value.len()),
        ),
        None => Ok(()),
    }
}

/// Checks that a queue is a stream.
pub(super) fn is_stream(queue: &QueueSpec) -> Result<(), Problem> {
    if queue.queue_type == QueueType::Stream {
        return Ok(());
    }
    let reason = format!("`{}` is no stream: add `type = \"stream\"` to it", queue.name);
    refuse("protocol", reason)
}

/// Checks a string that AMQP limits to 255 bytes.
pub(super) fn short_string(key: &str, text: &str) -> Result<(), Problem> {
    if text.len() > 255 {
        return refuse(key, "must have at most 255 bytes");
    }
    Ok(())
}

/// Returns the queue that a group refers to; absent if it may be on an existing broker.
pub(super) fn queue<'a>(
    name: &str,
    context: &Context<'a>,
) -> Result<Option<&'a QueueSpec>, Problem> {
    let declared = context.queues.iter().find(|queue| queue.is_meant_by(name));
    let may_be_there = matches!(context.broker, BrokerSpec::Existing { .. }) && !name.is_empty();
    if declared.is_none() && !may_be_there {
        let names: Vec<_> = context.queues.iter().map(|queue| queue.name.as_str()).collect();
        let reason = match names[..] {
            [] => format!("there is no queue `{name}`: declare it with `[[queues]]`"),
            _ => format!("there is no queue `{name}`; declared are {}", allowed(name, &names)),
        };
        return refuse("queue", reason);
    }
    Ok(declared)
}

/// Refuses a queue for `user` whose name only its consumers know.
pub(super) fn has_known_name(queue: Option<&QueueSpec>, user: &str) -> Result<(), Problem> {
    match queue.filter(|queue| queue.server_named) {
        Some(queue) => {
            let name = &queue.name;
            refuse("queue", format!("the queues of `{name}` have names that {user} cannot know"))
        }
        None => Ok(()),
    }
}

/// Refuses a queue for `user` that belongs to one connection, because `user` has other connections.
pub(super) fn not_exclusive(queue: Option<&QueueSpec>, user: &str) -> Result<(), Problem> {
    has_known_name(queue, user)?;
    match queue.filter(|queue| queue.exclusive) {
        Some(queue) => {
            let name = &queue.name;
            refuse("queue", format!("`{name}` is exclusive to a connection that {user} cannot use"))
        }
        None => Ok(()),
    }
}

/// Checks that names differ within their list.
pub(super) fn unique<'a>(
    list: &str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            let path = [list, &index.to_string(), "name"];
            return refuse_at(&path, format!("`{name}` is there twice"));
        }
    }
    Ok(())
}
