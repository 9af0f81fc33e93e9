//! `[[churn]]`: keys that do not apply to the kind are refused, not ignored.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{BOUND_EXCHANGE, ChurnGroup, ChurnKind, QueueType, UNSET},
    },
    fields, publishers,
};
use crate::scenario::validate::context::Context;

const CONCURRENCY_MAX: u32 = 10_000;

/// Time for opening and closing besides the hold, for which the default concurrency leaves room if there is a rate.
const SLACK: Duration = Duration::from_secs(1);

pub(super) fn group(
    index: usize,
    group: &mut ChurnGroup,
    context: &Context<'_>,
) -> Result<(), Problem> {
    foreign_keys(group)?;
    fields::name(&mut group.name, "churn", index);
    file_name(&group.name)?;
    rate(group.rate)?;
    concurrency(group)?;
    let (connections, concurrency) = (group.connections.unwrap_or(1), group.concurrency);
    if !(1..=concurrency).contains(&connections) {
        let reason = format!("must be from 1 to `concurrency`, which is {concurrency}");
        return refuse("connections", reason);
    }
    if group.kind != ChurnKind::Connections {
        group.connections = Some(connections);
        if concurrency.div_ceil(connections) > 2000 {
            let reason = "has more than 2000 channels, and RabbitMQ allows 2047 on a connection: \
                          spread them with `connections`";
            return refuse("concurrency", reason);
        }
    }
    fields::at_least_one("cycles", group.cycles)?;
    subject(group, context)
}

fn rate(rate: Option<f64>) -> Result<(), Problem> {
    if rate.is_some_and(|rate| !(0.001..=100_000.0).contains(&rate)) {
        let reason = "must be from 0.001 to 100000 a second for the group; leave it out for as \
                      fast as it goes";
        return refuse("rate", reason);
    }
    Ok(())
}

fn concurrency(group: &mut ChurnGroup) -> Result<(), Problem> {
    if group.concurrency == UNSET {
        let needed = |rate| rounded_up(rate * (group.hold + SLACK).as_secs_f64()).clamp(1, 2000);
        group.concurrency = group.rate.map_or(1, needed);
    }
    fields::at_least_one("concurrency", Some(group.concurrency))?;
    if group.concurrency > CONCURRENCY_MAX {
        return refuse("concurrency", format!("must be at most {CONCURRENCY_MAX}"));
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative; what is too large ends at the largest number"
)]
fn rounded_up(number: f64) -> u32 {
    number.ceil() as u32
}

/// Checks the name, which becomes part of a file's name.
fn file_name(name: &str) -> Result<(), Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 100 || !name.chars().all(plain) {
        return refuse("name", "must have 1 to 100 letters, digits, `-`, `_` or `.`");
    }
    Ok(())
}

fn foreign_keys(group: &ChurnGroup) -> Result<(), Problem> {
    use ChurnKind::{Bindings, Channels, Consumers, Queues};
    let keys: [(&str, bool, &[ChurnKind]); 8] = [
        ("connections", group.connections.is_some(), &[Channels, Queues, Bindings, Consumers]),
        ("type", group.queue_type.is_some(), &[Queues]),
        ("durable", group.durable.is_some(), &[Queues]),
        ("exclusive", group.exclusive.is_some(), &[Queues]),
        ("auto-delete", group.auto_delete.is_some(), &[Queues]),
        ("queue", group.queue.is_some(), &[Bindings, Consumers]),
        ("exchange", group.exchange.is_some(), &[Bindings]),
        ("arguments", group.arguments.is_some(), &[Queues, Bindings, Consumers]),
    ];
    let foreign = keys.into_iter().find(|(_, given, of)| *given && !of.contains(&group.kind));
    let Some((key, _, of)) = foreign else { return Ok(()) };
    let kinds: Vec<_> = of.iter().map(|kind| format!("`{}`", kind.as_str())).collect();
    let reason = format!(
        "means nothing with `kind = \"{}\"`; it goes with {}",
        group.kind.as_str(),
        kinds.join(", ")
    );
    refuse(key, reason)
}

/// Checks the settings of the kind, and fills in its defaults.
fn subject(group: &mut ChurnGroup, context: &Context<'_>) -> Result<(), Problem> {
    if let Some(queue) = &group.queue {
        fields::not_exclusive(fields::queue(queue, context)?, "the churn")?;
    }
    if let Some(arguments) = &group.arguments {
        let reason = "give a group of churn for each value";
        fields::no_placeholder("arguments", arguments, reason)?;
    }
    match group.kind {
        ChurnKind::Connections | ChurnKind::Channels => return Ok(()),
        ChurnKind::Queues => churned_queue(group)?,
        ChurnKind::Consumers => {}
        ChurnKind::Bindings => {
            let exchange = group.exchange.get_or_insert_with(|| BOUND_EXCHANGE.to_owned());
            publishers::check_exchange(exchange, context)?;
        }
    }
    group.arguments.get_or_insert_default();
    Ok(())
}

/// Checks the queues of churn. A classic queue goes away with its connection unless it is asked to stay.
fn churned_queue(group: &mut ChurnGroup) -> Result<(), Problem> {
    let queue_type = *group.queue_type.get_or_insert_default();
    let is_classic = queue_type == QueueType::Classic;
    let durable = *group.durable.get_or_insert(!is_classic);
    let exclusive = *group.exclusive.get_or_insert(is_classic && !durable);
    let auto_delete = *group.auto_delete.get_or_insert(false);
    let kind = queue_type.as_str();
    if !is_classic && !durable {
        return refuse("durable", format!("a {kind} queue is always durable: leave this out"));
    }
    if !is_classic && exclusive {
        return refuse("exclusive", format!("a {kind} queue cannot be exclusive"));
    }
    if !is_classic && auto_delete {
        return refuse("auto-delete", format!("a {kind} queue cannot be auto-delete"));
    }
    let is_typed = |arguments: &BTreeMap<_, _>| arguments.contains_key("x-queue-type");
    if group.arguments.as_ref().is_some_and(is_typed) {
        return refuse_at(&["arguments", "x-queue-type"], "is set by `type`");
    }
    Ok(())
}
