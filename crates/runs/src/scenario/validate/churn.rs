//! `[[churn]]`: keys that do not apply to the kind are refused, not ignored.

use std::time::Duration;

use super::{
    super::{
        error::{Problem, refuse},
        model::{ChurnGroup, ChurnKind, ChurnSubject, ChurnedQueue, QueueType},
        wire,
    },
    fields, publishers,
};
use crate::scenario::validate::context::Context;

const CONCURRENCY_MAX: u32 = 10_000;

/// Time for opening and closing besides the hold, for which the default concurrency leaves room if there is a rate.
const SLACK: Duration = Duration::from_secs(1);

pub(super) fn group(
    index: usize,
    wire: wire::Churn,
    context: &Context<'_>,
) -> Result<ChurnGroup, Problem> {
    foreign_keys(&wire)?;
    let name = wire.name.clone().unwrap_or_else(|| format!("churn-{index}"));
    file_name(&name)?;
    let rate = rate(wire.rate)?;
    let hold = hold(wire.hold.as_deref())?;
    let concurrency = concurrency(wire.concurrency, rate, hold)?;
    let connections = wire.connections.unwrap_or(1);
    if !(1..=concurrency).contains(&connections) {
        let reason = format!("must be from 1 to `concurrency`, which is {concurrency}");
        return refuse("connections", reason);
    }
    if wire.kind != ChurnKind::Connections && concurrency.div_ceil(connections) > 2000 {
        let reason = "has more than 2000 channels, and RabbitMQ allows 2047 on a connection: \
                      spread them with `connections`";
        return refuse("concurrency", reason);
    }
    Ok(ChurnGroup {
        cycles: fields::at_least_one("cycles", wire.cycles)?,
        subject: subject(wire, context)?,
        name,
        concurrency,
        connections,
        rate,
        hold,
    })
}

fn rate(rate: Option<f64>) -> Result<Option<f64>, Problem> {
    if rate.is_some_and(|rate| !(0.001..=100_000.0).contains(&rate)) {
        let reason = "must be from 0.001 to 100000 a second for the group; leave it out for as \
                      fast as it goes";
        return refuse("rate", reason);
    }
    Ok(rate)
}

fn hold(text: Option<&str>) -> Result<Duration, Problem> {
    match text {
        None | Some("0s") => Ok(Duration::ZERO),
        text => Ok(fields::duration("hold", text)?.unwrap_or_default()),
    }
}

fn concurrency(given: Option<u32>, rate: Option<f64>, hold: Duration) -> Result<u32, Problem> {
    let concurrency = fields::at_least_one("concurrency", given)?.unwrap_or_else(|| {
        rate.map_or(1, |rate| rounded_up(rate * (hold + SLACK).as_secs_f64()).clamp(1, 2000))
    });
    if concurrency > CONCURRENCY_MAX {
        return refuse("concurrency", format!("must be at most {CONCURRENCY_MAX}"));
    }
    Ok(concurrency)
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

fn foreign_keys(wire: &wire::Churn) -> Result<(), Problem> {
    use ChurnKind::{Bindings, Channels, Consumers, Queues};
    let keys: [(&str, bool, &[ChurnKind]); 8] = [
        ("connections", wire.connections.is_some(), &[Channels, Queues, Bindings, Consumers]),
        ("type", wire.queue_type.is_some(), &[Queues]),
        ("durable", wire.durable.is_some(), &[Queues]),
        ("exclusive", wire.exclusive.is_some(), &[Queues]),
        ("auto-delete", wire.auto_delete.is_some(), &[Queues]),
        ("queue", wire.queue.is_some(), &[Bindings, Consumers]),
        ("exchange", wire.exchange.is_some(), &[Bindings]),
        ("arguments", wire.arguments.is_some(), &[Queues, Bindings, Consumers]),
    ];
    let foreign = keys.into_iter().find(|(_, given, of)| *given && !of.contains(&wire.kind));
    let Some((key, _, of)) = foreign else { return Ok(()) };
    let kinds: Vec<_> = of.iter().map(|kind| format!("`{}`", kind.as_str())).collect();
    let reason = format!(
        "means nothing with `kind = \"{}\"`; it goes with {}",
        wire.kind.as_str(),
        kinds.join(", ")
    );
    refuse(key, reason)
}

fn subject(wire: wire::Churn, context: &Context<'_>) -> Result<ChurnSubject, Problem> {
    if let Some(queue) = &wire.queue {
        fields::not_exclusive(fields::queue(queue, context)?, "the churn")?;
    }
    if let Some(arguments) = &wire.arguments {
        let reason = "give a group of churn for each value";
        fields::no_placeholder("arguments", arguments, reason)?;
    }
    let queue = wire.queue.clone();
    let arguments = wire.arguments.clone().unwrap_or_default();
    Ok(match wire.kind {
        ChurnKind::Connections => ChurnSubject::Connections,
        ChurnKind::Channels => ChurnSubject::Channels,
        ChurnKind::Queues => ChurnSubject::Queues(churned_queue(&wire)?),
        ChurnKind::Consumers => ChurnSubject::Consumers { queue, arguments },
        ChurnKind::Bindings => {
            let exchange = wire.exchange.unwrap_or_else(|| "amq.direct".to_owned());
            publishers::check_exchange(&exchange, context)?;
            ChurnSubject::Bindings { queue, exchange, arguments }
        }
    })
}

/// Checks the queues of churn. A classic queue goes away with its connection unless it is asked to stay.
fn churned_queue(wire: &wire::Churn) -> Result<ChurnedQueue, Problem> {
    let queue_type = wire.queue_type.unwrap_or(QueueType::Classic);
    let is_classic = queue_type == QueueType::Classic;
    let durable = wire.durable.unwrap_or(!is_classic);
    let exclusive = wire.exclusive.unwrap_or(is_classic && !durable);
    let auto_delete = wire.auto_delete.unwrap_or(false);
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
    let arguments = wire.arguments.clone().unwrap_or_default();
    if arguments.contains_key("x-queue-type") {
        let refused: Result<(), Problem> = refuse("x-queue-type", "is set by `type`");
        refused.map_err(|problem| problem.under("arguments"))?;
    }
    Ok(ChurnedQueue { queue_type, durable, exclusive, auto_delete, arguments })
}
