//! Checks of a group of publishers.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{NO_WINDOW, Protocol, PublisherGroup, QueueSpec, QueueType, WriteMode},
    },
    fields, mqtt, schedule,
};
use super::{amqp10, content, packing, stream, target};
use crate::scenario::validate::context::Context;
use std::time::Duration;

pub(in crate::scenario::validate) fn group(
    index: usize,
    group: &mut PublisherGroup,
    context: &Context<'_>,
) -> Result<(), Problem> {
    fields::name(&mut group.name, "publishers", index);
    stream::keys(group)?;
    amqp10::keys(group)?;
    mqtt::publisher_keys(group)?;
    let spread = fields::spread(group.count, group.connections, &mut group.channels)?;
    confirms(group)?;
    let queue = target::target(group, context)?;
    target::key_shares(group, queue)?;
    stream::target(group, queue, context)?;
    amqp10::target(group, queue)?;
    transactions(group, spread, queue)?;
    confirm_timeout(group)?;
    content::sizes(group)?;
    content::body(group)?;
    packing::packing(group)?;
    schedule(group)?;
    content::properties(group)?;
    write(group)?;
    fields::at_least_one("messages", group.messages)
}

fn write(group: &PublisherGroup) -> Result<(), Problem> {
    if group.write == WriteMode::PerFrame && group.protocol != Protocol::Amqp091 {
        return refuse("write", "`per-frame` is of AMQP 0-9-1, where a message has several frames");
    }
    Ok(())
}

fn confirms(group: &mut PublisherGroup) -> Result<(), Problem> {
    fields::at_least_one("confirm-window", group.confirm_window)?;
    if group.confirm_window.is_some_and(|window| window > 10_000_000) {
        return refuse("confirm-window", "must be at most 10000000");
    }
    match group.confirms {
        Some(false) if group.confirm_window.is_some() => {
            return refuse(
                "confirms",
                "is false, but `confirm-window` needs confirms: leave one out",
            );
        }
        Some(true) => {
            group.confirm_window.get_or_insert(NO_WINDOW);
        }
        Some(false) | None => {}
    }
    group.confirms = (group.confirm_window == Some(NO_WINDOW)).then_some(true);
    if group.republish_unconfirmed == Some(true) && group.confirm_window.is_none() {
        return refuse(
            "republish-unconfirmed",
            "needs `confirm-window`: without confirms, unanswered messages are unknown",
        );
    }
    let republishes = group.republish_unconfirmed == Some(true);
    group.republish_unconfirmed = group.confirm_window.map(|_| republishes);
    Ok(())
}

fn schedule(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.interval.is_some() && !group.phases.is_empty() {
        let reason = "give either `interval` or `phases`, which have rates of their own";
        return refuse("interval", reason);
    }
    rate(group)?;
    let schedule = schedule::Keys {
        rate: group.rate,
        arrival: &mut group.arrival,
        phases: &mut group.phases,
        after_phases: &mut group.after_phases,
    };
    let is_set = schedule.check()?;
    if group.late.is_some() && !is_set {
        return refuse("late", schedule::NEEDS_SCHEDULE);
    }
    group.late = is_set.then(|| group.late.unwrap_or_default());
    Ok(())
}

/// Checks the rate. `interval` is its inverse.
fn rate(group: &mut PublisherGroup) -> Result<(), Problem> {
    match group.interval.take() {
        Some(_) if group.rate.is_some() => {
            refuse("interval", "is the opposite of `rate`: leave one of the two out")
        }
        Some(interval) if interval > Duration::from_secs(1000) => {
            refuse("interval", "must be at most 1000s")
        }
        Some(interval) => {
            group.rate = Some(interval.as_secs_f64().recip());
            Ok(())
        }
        None if group.rate == Some(0.0) => Ok(()),
        None => fields::rate(group.rate),
    }
}

fn transactions(
    group: &PublisherGroup,
    spread: fields::Spread,
    queue: Option<&QueueSpec>,
) -> Result<(), Problem> {
    let Some(size) = group.tx_size else { return Ok(()) };
    if !(1..=1_000_000).contains(&size) {
        return refuse("tx-size", "must be from 1 to 1000000 messages; leave it out for none");
    }
    if group.confirm_window.is_some() {
        let reason = "a channel has either confirms or transactions: leave `confirm-window` or \
                      `tx-size` out";
        return refuse("tx-size", reason);
    }
    if spread.is_shared() {
        let reason = "a commit holds for the whole channel: leave `channels` out, so that each \
                      publisher has its own";
        return refuse("tx-size", reason);
    }
    if queue.is_some_and(|queue| queue.queue_type == QueueType::Stream) {
        return refuse("tx-size", "streams do not support transactions: use `confirm-window`");
    }
    Ok(())
}

fn confirm_timeout(group: &mut PublisherGroup) -> Result<(), Problem> {
    if group.confirm_timeout.is_none() {
        return match group.on_confirm_timeout {
            Some(_) => refuse("on-confirm-timeout", "needs `confirm-timeout`"),
            None => Ok(()),
        };
    }
    if !group.has_confirms() {
        let reason = "nothing is confirmed without `confirm-window` or `tx-size`";
        return refuse("confirm-timeout", reason);
    }
    group.on_confirm_timeout.get_or_insert_default();
    Ok(())
}
