//! Exclusions between the ways in which messages are requested, held and settled.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::Settle,
        wire,
    },
    fields,
};

pub(super) fn settle(wire: &wire::Consumers) -> Settle {
    match (wire.nack.unwrap_or(false), wire.requeue.unwrap_or(true)) {
        (false, _) => Settle::Ack,
        (true, true) => Settle::Requeue,
        (true, false) => Settle::Discard,
    }
}

pub(super) fn acknowledgement(wire: &wire::Consumers) -> Result<(), Problem> {
    for (key, limit) in [("prefetch", wire.prefetch), ("channel-prefetch", wire.channel_prefetch)] {
        if limit == Some(0) {
            return refuse(key, "must be from 1 to 65535; leave it out for unlimited");
        }
    }
    let every = wire.multi_ack_every.unwrap_or(1);
    if every == 0 {
        return refuse("multi-ack-every", "must be at least 1, which acknowledges each message");
    }
    automatic(wire)?;
    if wire.requeue.is_some() && wire.nack != Some(true) {
        return refuse("requeue", "applies to refused messages only: set `nack = true`");
    }
    for (key, limit) in [("prefetch", wire.prefetch), ("channel-prefetch", wire.channel_prefetch)] {
        if let Some(limit) = limit.filter(|limit| every > u32::from(*limit)) {
            let reason = format!(
                "is {every}, but the broker stops at {limit} unacknowledged messages (`{key}`), \
                 so the consumer would wait for ever: at most {limit} is allowed"
            );
            return refuse("multi-ack-every", reason);
        }
    }
    Ok(())
}

fn automatic(wire: &wire::Consumers) -> Result<(), Problem> {
    if !wire.auto_ack.unwrap_or(false) {
        return Ok(());
    }
    let settles = "nothing is acknowledged with `auto-ack`: leave one of the two out";
    let limits = "limits messages that are not acknowledged yet; with `auto-ack` there are none: \
                  leave one of the two out";
    let holds = "holds messages back, but with `auto-ack` the broker sends on regardless: give \
                 `prefetch` instead of `auto-ack`";
    let excluded = [
        ("multi-ack-every", wire.multi_ack_every.is_some_and(|every| every > 1), settles),
        ("nack", wire.nack == Some(true), settles),
        ("tx-size", wire.tx_size.is_some(), settles),
        ("prefetch", wire.prefetch.is_some(), limits),
        ("channel-prefetch", wire.channel_prefetch.is_some(), limits),
        ("rate", wire.rate.is_some(), holds),
        ("processing-time", wire.processing_time.is_some(), holds),
        ("processing-times", wire.processing_times.is_some(), holds),
    ];
    match excluded.into_iter().find(|(_, given, _)| *given) {
        Some((key, _, reason)) => refuse(key, reason),
        None => Ok(()),
    }
}

pub(super) fn transactions(wire: &wire::Consumers, spread: &fields::Spread) -> Result<(), Problem> {
    let Some(size) = wire.tx_size else { return Ok(()) };
    if !(1..=1_000_000).contains(&size) {
        return refuse("tx-size", "must be from 1 to 1000000 messages; leave it out for none");
    }
    if spread.is_shared() {
        let reason = "a commit holds for the whole channel: leave `channels` out, so that each \
                      consumer has its own";
        return refuse("tx-size", reason);
    }
    let every = wire.multi_ack_every.unwrap_or(1);
    let needed = size.div_ceil(every).saturating_mul(every);
    for (key, limit) in [("prefetch", wire.prefetch), ("channel-prefetch", wire.channel_prefetch)] {
        if limit.is_some_and(|limit| needed > u32::from(limit)) {
            let reason = format!(
                "acknowledgements count when they are committed: {needed} messages are needed for \
                 a commit, and `{key}` stops the broker before"
            );
            return refuse("tx-size", reason);
        }
    }
    Ok(())
}

/// Refuses combined acknowledgements of consumers that share a channel but keep a different pace. Such an
/// acknowledgement covers all consumers of the channel. It also covers messages of a consumer that had its last message
/// and must return the rest, or that holds messages longer.
pub(super) fn shared_channel(
    wire: &wire::Consumers,
    spread: &fields::Spread,
) -> Result<(), Problem> {
    let acknowledges_many = wire.multi_ack_every.unwrap_or(1) > 1;
    if !spread.is_shared() || !acknowledges_many {
        return Ok(());
    }
    let own_pace = [
        ("messages", wire.messages.is_some()),
        ("rate", wire.rate.is_some()),
        ("processing-time", wire.processing_time.is_some()),
        ("processing-times", wire.processing_times.is_some()),
    ];
    match own_pace.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => {
            let reason = "cannot be combined with `multi-ack-every` when consumers share a \
                          channel: leave `channels` out, so that each has its own";
            refuse(key, reason)
        }
        None => Ok(()),
    }
}

pub(super) fn polling(wire: &wire::Consumers, spread: &fields::Spread) -> Result<(), Problem> {
    if wire.polling != Some(true) {
        return match wire.poll_interval {
            Some(_) if wire.polling.is_none() => refuse("poll-interval", "needs `polling = true`"),
            _ => Ok(()),
        };
    }
    let pushed = "applies to messages that the broker sends by itself, but `polling` requests each one: remove one of \
                  the two";
    let excluded = [
        ("prefetch", wire.prefetch.is_some(), pushed),
        ("channel-prefetch", wire.channel_prefetch.is_some(), pushed),
        ("exclusive", wire.exclusive == Some(true), pushed),
        ("priority", wire.priority.is_some(), pushed),
        ("arguments", !wire.arguments.is_empty(), pushed),
        ("rate", wire.rate.is_some(), "is set by `poll-interval` when polling"),
    ];
    if let Some((key, _, reason)) = excluded.into_iter().find(|(_, given, _)| *given) {
        return refuse(key, reason);
    }
    if spread.is_shared() {
        let reason = "an answer names its channel only: leave `channels` out, so that each \
                      consumer has its own";
        return refuse("polling", reason);
    }
    Ok(())
}

/// Checks that held messages are limited: the broker must stop sending.
pub(super) fn held(wire: &wire::Consumers) -> Result<(), Problem> {
    let is_limited =
        wire.prefetch.is_some() || wire.channel_prefetch.is_some() || wire.polling == Some(true);
    let holding = [
        ("rate", wire.rate.is_some()),
        ("processing-time", wire.processing_time.is_some()),
        ("processing-times", wire.processing_times.is_some()),
    ];
    match holding.into_iter().find(|(_, given)| *given) {
        Some((key, _)) if !is_limited => {
            let reason = "needs `prefetch` (or `channel-prefetch`): without, the broker would \
                          send the whole queue at once";
            refuse(key, reason)
        }
        _ => Ok(()),
    }
}
