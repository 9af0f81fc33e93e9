//! Checks of a group of publishers.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{ConfirmTimeout, NO_WINDOW, PublisherGroup, QueueSpec, QueueType, Schedule},
        wire,
    },
    fields, schedule,
};
use super::{content, packing, target};
use crate::scenario::validate::context::Context;
use std::time::Duration;

pub(in crate::scenario::validate) fn group(
    index: usize,
    wire: wire::Publishers,
    context: &Context<'_>,
) -> Result<PublisherGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    let confirm_window = confirm_window(&wire)?;
    if wire.republish_unconfirmed == Some(true) && confirm_window.is_none() {
        return refuse(
            "republish-unconfirmed",
            "needs `confirm-window`: without confirms, unanswered messages are unknown",
        );
    }
    let target = target::target(&wire, context)?;
    transactions(&wire, &spread, confirm_window, target.queue)?;
    let confirm_timeout = confirm_timeout(&wire, confirm_window)?;
    let sizes = content::sizes(&wire)?;
    let body = content::body(&wire)?;
    let packing = packing::packing(&wire, &body, sizes.largest())?;
    let schedule = schedule(&wire)?;
    let properties = content::properties(wire.properties, wire.persistent)?;
    Ok(PublisherGroup {
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        exchange: target.exchange,
        routing_key: target.routing_key,
        keys: target.keys,
        member_queues: wire.member_queues.unwrap_or_default(),
        size_bytes: sizes.first,
        sizes: sizes.steps,
        body,
        packing,
        persistent: wire.persistent.unwrap_or(properties.delivery_mode == Some(2)),
        properties,
        confirm_window,
        confirm_timeout,
        republish_unconfirmed: wire.republish_unconfirmed.unwrap_or(false),
        write: wire.write.unwrap_or_default(),
        tx_size: wire.tx_size,
        mandatory: wire.mandatory.unwrap_or(false),
        schedule,
        late: wire.late.unwrap_or_default(),
        messages: fields::at_least_one("messages", wire.messages)?,
        start_delay: fields::delay("start-delay", wire.start_delay.as_deref())?,
        random_start_delay: fields::delay(
            "random-start-delay",
            wire.random_start_delay.as_deref(),
        )?,
        name: wire.name.unwrap_or_else(|| format!("publishers-{index}")),
    })
}

fn confirm_window(wire: &wire::Publishers) -> Result<Option<u32>, Problem> {
    let window = fields::at_least_one("confirm-window", wire.confirm_window)?;
    if window.is_some_and(|window| window > 10_000_000) {
        return refuse("confirm-window", "must be at most 10000000");
    }
    match wire.confirms {
        Some(false) if window.is_some() => {
            refuse("confirms", "is false, but `confirm-window` needs confirms: leave one out")
        }
        Some(true) => Ok(Some(window.unwrap_or(NO_WINDOW))),
        Some(false) | None => Ok(window),
    }
}

fn schedule(wire: &wire::Publishers) -> Result<Schedule, Problem> {
    if wire.interval.is_some() && !wire.phases.is_empty() {
        let reason = "give either `interval` or `phases`, which have rates of their own";
        return refuse("interval", reason);
    }
    let schedule = schedule::Keys {
        rate: rate(wire.rate, wire.interval.as_deref())?,
        arrival: wire.arrival,
        phases: &wire.phases,
        after_phases: wire.after_phases,
    };
    let schedule = schedule.check()?;
    if wire.late.is_some() && !schedule.is_set() {
        return refuse("late", schedule::NEEDS_SCHEDULE);
    }
    Ok(schedule)
}

/// Returns messages per second; `interval` is the inverse of `rate`.
fn rate(rate: Option<f64>, interval: Option<&str>) -> Result<Option<f64>, Problem> {
    let interval = fields::duration("interval", interval)?;
    match interval {
        Some(_) if rate.is_some() => {
            refuse("interval", "is the opposite of `rate`: leave one of the two out")
        }
        Some(interval) if interval > Duration::from_secs(1000) => {
            refuse("interval", "must be at most 1000s")
        }
        Some(interval) => Ok(Some(interval.as_secs_f64().recip())),
        None if rate == Some(0.0) => Ok(rate),
        None => fields::rate(rate),
    }
}

fn transactions(
    wire: &wire::Publishers,
    spread: &fields::Spread,
    confirm_window: Option<u32>,
    queue: Option<&QueueSpec>,
) -> Result<(), Problem> {
    let Some(size) = wire.tx_size else { return Ok(()) };
    if !(1..=1_000_000).contains(&size) {
        return refuse("tx-size", "must be from 1 to 1000000 messages; leave it out for none");
    }
    if confirm_window.is_some() {
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

fn confirm_timeout(
    wire: &wire::Publishers,
    confirm_window: Option<u32>,
) -> Result<Option<ConfirmTimeout>, Problem> {
    let Some(after) = fields::duration("confirm-timeout", wire.confirm_timeout.as_deref())? else {
        return match wire.on_confirm_timeout {
            Some(_) => refuse("on-confirm-timeout", "needs `confirm-timeout`"),
            None => Ok(None),
        };
    };
    if confirm_window.is_none() && wire.tx_size.is_none() {
        let reason = "nothing is confirmed without `confirm-window` or `tx-size`";
        return refuse("confirm-timeout", reason);
    }
    let ends_run = wire.on_confirm_timeout == Some(wire::OnConfirmTimeout::Fail);
    Ok(Some(ConfirmTimeout { after, ends_run }))
}
