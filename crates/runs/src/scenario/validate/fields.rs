//! Checks of single values, used by several parts of a scenario.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use super::super::error::{Problem, allowed, quoted, refuse};
use crate::scenario::validate::context::Context;
use rabbitscope_text::{UnitError, parse_duration, parse_size};

use crate::scenario::{
    BrokerSpec, FieldValue, NumberRange, QueueNames, QueueSpec, has_placeholder,
};

/// The largest message that RabbitMQ 3.8 and later accepts by default, in bytes.
const MESSAGE_MAX: u64 = 128 << 20;

/// Reason for refusing both keys for objects that may exist before the run.
pub(super) const PREDECLARED_OR_IF_MISSING: &str = "is declared when it is not there, and what is `predeclared` never is: leave one of the two out";

/// Parses a time above zero.
pub(super) fn duration(key: &str, text: Option<&str>) -> Result<Option<Duration>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let duration = parse_duration(text).map_err(|error| unit(key, &error))?;
    if duration.is_zero() {
        return refuse(key, "must be longer than 0s");
    }
    Ok(Some(duration))
}

/// Parses a time that may be zero.
pub(super) fn delay(key: &str, text: Option<&str>) -> Result<Duration, Problem> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    parse_duration(text).map_err(|error| unit(key, &error))
}

/// Checks a rate in messages per second.
pub(super) fn rate(rate: Option<f64>) -> Result<Option<f64>, Problem> {
    if rate.is_some_and(|rate| !(0.001..=10_000_000.0).contains(&rate)) {
        let reason = "must be from 0.001 to 10000000 messages a second for each member of the \
                      group; leave it out for as fast as it goes";
        return refuse("rate", reason);
    }
    Ok(rate)
}

/// Returns the numbers for the placeholder in `text`, which stands at `key`. Placeholder and numbers need each other;
/// `from` defaults to 1.
pub(super) fn numbers(
    key: &str,
    text: Option<&str>,
    from: Option<u32>,
    to: Option<u32>,
) -> Result<Option<NumberRange>, Problem> {
    let has_place = text.is_some_and(has_placeholder);
    match (has_place, from, to) {
        (false, None, None) => Ok(None),
        (false, Some(_), _) => refuse("from", format!("needs a place in `{key}`: `q-{{}}`")),
        (false, None, Some(_)) => refuse("to", format!("needs a place in `{key}`: `q-{{}}`")),
        (true, _, None) => refuse("to", format!("is missing: `{key}` has a place for numbers")),
        (true, from, Some(to)) => {
            let range = NumberRange { from: from.unwrap_or(1), to };
            if range.to < range.from || range.to - range.from >= 100_000 {
                let from = range.from;
                return refuse("to", format!("must be from {from} to {}", from + 99_999));
            }
            Ok(Some(range))
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
        Some(name) => {
            let refused: Result<(), Problem> =
                refuse(name, format!("`{{}}` is not replaced here: {reason}"));
            refused.map_err(|problem| problem.under(key))
        }
    }
}

/// Parses a body size.
pub(super) fn size(key: &str, text: &str) -> Result<u32, Problem> {
    let bytes = parse_size(text).map_err(|error| unit(key, &error))?;
    match u32::try_from(bytes) {
        Ok(size) if bytes <= MESSAGE_MAX => Ok(size),
        _ => refuse(key, "must be at most 128MiB, the largest message that RabbitMQ accepts"),
    }
}

fn unit(key: &str, error: &UnitError) -> Problem {
    Problem::new(format!("{} is not {}", quoted(&error.text), error.expected)).under(key)
}

/// Checks a number that must be at least 1.
pub(super) fn at_least_one<N: PartialOrd + From<u8>>(
    key: &str,
    number: Option<N>,
) -> Result<Option<N>, Problem> {
    if number.as_ref().is_some_and(|number| *number < N::from(1)) {
        return refuse(key, "must be at least 1; leave it out for no limit");
    }
    Ok(number)
}

/// The spread of a group over connections and channels.
pub(super) struct Spread {
    pub(super) count: u32,
    pub(super) connections: u32,
    pub(super) channels: u32,
}

impl Spread {
    /// Returns whether several members use the same channel.
    pub(super) fn is_shared(&self) -> bool {
        self.count.div_ceil(self.connections) > self.channels
    }
}

/// Checks the count (default 1), the connections (default 1) and the channels for each connection (default one for each
/// member).
pub(super) fn spread(
    count: Option<u32>,
    connections: Option<u32>,
    channels: Option<u32>,
) -> Result<Spread, Problem> {
    let count = count.unwrap_or(1);
    if !(1..=100_000).contains(&count) {
        return refuse("count", "must be from 1 to 100000");
    }
    let connections = connections.unwrap_or(1);
    if !(1..=count).contains(&connections) {
        let reason = format!("must be from 1 to `count`, which is {count}");
        return refuse("connections", reason);
    }
    let most = count.div_ceil(connections);
    let channels = channels.unwrap_or(most);
    if !(1..=most.min(2047)).contains(&channels) {
        let reason = format!(
            "must be from 1 to 2047 (RabbitMQ's limit for a connection) and at most {most}, the \
             members on each connection"
        );
        return refuse("channels", reason);
    }
    Ok(Spread { count, connections, channels })
}

/// Checks a string that AMQP limits to 255 bytes.
pub(super) fn short_string(key: &str, text: String) -> Result<String, Problem> {
    if text.len() > 255 {
        return refuse(key, "must have at most 255 bytes");
    }
    Ok(text)
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
    match queue.filter(|queue| queue.names == QueueNames::ByBroker) {
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
pub(super) fn unique<'a>(list: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (index, name) in names.enumerate() {
        if !seen.insert(name) {
            let twice: Result<(), Problem> = refuse("name", format!("`{name}` is there twice"));
            return twice.map_err(|problem| problem.under(index.to_string()).under(list));
        }
    }
    Ok(())
}
