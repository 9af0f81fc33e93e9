//! Exclusions between the ways in which messages are requested, held and settled.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{ConsumerGroup, Protocol},
    },
    fields,
};

pub(super) fn acknowledgement(group: &ConsumerGroup) -> Result<(), Problem> {
    for (key, limit) in [("prefetch", group.prefetch), ("channel-prefetch", group.channel_prefetch)]
    {
        if limit == Some(0) {
            return refuse(key, "must be from 1 to 65535; leave it out for unlimited");
        }
    }
    let every = group.multi_ack_every;
    if every == 0 {
        return refuse("multi-ack-every", "must be at least 1, which acknowledges each message");
    }
    automatic(group)?;
    if group.requeue.is_some() && !group.nack {
        return refuse("requeue", "applies to refused messages only: set `nack = true`");
    }
    for (key, limit) in [("prefetch", group.prefetch), ("channel-prefetch", group.channel_prefetch)]
    {
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

fn automatic(group: &ConsumerGroup) -> Result<(), Problem> {
    if !group.auto_ack {
        return Ok(());
    }
    let settles = "nothing is acknowledged with `auto-ack`: leave one of the two out";
    let limits = "limits messages that are not acknowledged yet; with `auto-ack` there are none: \
                  leave one of the two out";
    let holds = "holds messages back, but with `auto-ack` the broker sends on regardless: give \
                 `prefetch` instead of `auto-ack`";
    let excluded = [
        ("multi-ack-every", group.multi_ack_every > 1, settles),
        ("nack", group.nack, settles),
        ("tx-size", group.tx_size.is_some(), settles),
        ("prefetch", group.prefetch.is_some(), limits),
        ("channel-prefetch", group.channel_prefetch.is_some(), limits),
    ];
    let holding = own_pace(group).map(|(key, given)| (key, given, holds));
    match excluded.into_iter().chain(holding).find(|(_, given, _)| *given) {
        Some((key, _, reason)) => refuse(key, reason),
        None => Ok(()),
    }
}

pub(super) fn transactions(group: &ConsumerGroup, spread: fields::Spread) -> Result<(), Problem> {
    let Some(size) = group.tx_size else { return Ok(()) };
    if !(1..=1_000_000).contains(&size) {
        return refuse("tx-size", "must be from 1 to 1000000 messages; leave it out for none");
    }
    if spread.is_shared() {
        let reason = "a commit holds for the whole channel: leave `channels` out, so that each \
                      consumer has its own";
        return refuse("tx-size", reason);
    }
    let every = group.multi_ack_every;
    let needed = size.div_ceil(every).saturating_mul(every);
    for (key, limit) in [("prefetch", group.prefetch), ("channel-prefetch", group.channel_prefetch)]
    {
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
pub(super) fn shared_channel(group: &ConsumerGroup, spread: fields::Spread) -> Result<(), Problem> {
    let acknowledges_many = group.multi_ack_every > 1;
    if !spread.is_shared() || !acknowledges_many {
        return Ok(());
    }
    let ends = ("messages", group.messages.is_some());
    match own_pace(group).into_iter().chain([ends]).find(|(_, given)| *given) {
        Some((key, _)) => {
            let reason = "cannot be combined with `multi-ack-every` when consumers share a \
                          channel: leave `channels` out, so that each has its own";
            refuse(key, reason)
        }
        None => Ok(()),
    }
}

pub(super) fn polling(group: &ConsumerGroup, spread: fields::Spread) -> Result<(), Problem> {
    if group.polling != Some(true) {
        return match group.poll_interval {
            Some(_) if group.polling.is_none() => refuse("poll-interval", "needs `polling = true`"),
            _ => Ok(()),
        };
    }
    let pushed = "applies to messages that the broker sends by itself, but `polling` requests each one: remove one of \
                  the two";
    let excluded = [
        ("prefetch", group.prefetch.is_some(), pushed),
        ("channel-prefetch", group.channel_prefetch.is_some(), pushed),
        ("exclusive", group.exclusive, pushed),
        ("priority", group.priority.is_some(), pushed),
        ("arguments", !group.arguments.is_empty(), pushed),
        ("rate", group.rate.is_some(), "is set by `poll-interval` when polling"),
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
pub(super) fn held(group: &ConsumerGroup) -> Result<(), Problem> {
    let is_limited = group.prefetch.is_some()
        || group.channel_prefetch.is_some()
        || group.polling == Some(true)
        || group.credit.is_some()
        || group.qos == Some(1);
    match own_pace(group).into_iter().find(|(_, given)| *given) {
        Some((key, _)) if !is_limited => {
            let reason = "needs `prefetch` (or `channel-prefetch`): without, the broker would \
                          send the whole queue at once";
            refuse(key, reason)
        }
        _ => Ok(()),
    }
}

/// Checks consumers that process several messages at the same time, which end in any order.
pub(super) fn concurrency(group: &ConsumerGroup) -> Result<(), Problem> {
    if !(1..=1_000).contains(&group.concurrency) {
        return refuse("concurrency", "must be from 1 to 1000 messages");
    }
    let refused = [
        (group.protocol != Protocol::Amqp091, "needs `protocol = \"amqp-0-9-1\"`"),
        (
            !group.is_processing(),
            "needs `processing-time`: without, each message is settled at once",
        ),
        (group.polling == Some(true), "is of messages that the broker sends: a poller has one"),
        (
            group.multi_ack_every > 1,
            "needs an acknowledgement for each message: leave `multi-ack-every` out",
        ),
    ];
    match refused.into_iter().find(|(is_refused, _)| group.concurrency > 1 && *is_refused) {
        Some((_, reason)) => refuse("concurrency", reason),
        None => Ok(()),
    }
}

/// Returns the keys by which consumers keep their own pace, and whether the group has them.
fn own_pace(group: &ConsumerGroup) -> [(&'static str, bool); 4] {
    [
        ("rate", group.rate.is_some()),
        ("processing-time", group.processing_time.is_some()),
        ("processing-times", group.processing_times.is_some()),
        ("processing-time-shares", group.processing_time_shares.is_some()),
    ]
}
