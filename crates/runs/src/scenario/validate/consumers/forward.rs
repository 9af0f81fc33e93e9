//! `forward` of consumers.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{ConsumerGroup, Forward, Protocol, has_placeholder},
    },
    fields,
    publishers::check_exchange,
};
use crate::scenario::validate::context::Context;

/// Most bytes of the messages that one consumer may have to keep.
const BYTES_MAX: u64 = 256 << 20;

/// Checks the messages that consumers publish.
pub(super) fn forward(group: &ConsumerGroup, context: &Context<'_>) -> Result<(), Problem> {
    let Some(forward) = &group.forward else { return Ok(()) };
    let refused = [
        (group.protocol != Protocol::Amqp091, "needs `protocol = \"amqp-0-9-1\"`"),
        (
            group.auto_ack || group.prefetch.or(group.channel_prefetch).is_none(),
            "needs `prefetch`, and no `auto-ack`: without, a broker that takes the new messages slowly would fill the \
             memory",
        ),
        (
            group.nack && group.nack_share.is_none(),
            "is of acknowledged messages, and `nack` refuses all: give `nack-share`, or leave one of the two out",
        ),
    ];
    if let Some((_, reason)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
        return refuse("forward", reason);
    }
    target(group, forward, context).map_err(|problem| problem.under("forward"))?;
    memory(group, forward)?;
    match forward.share {
        Some(share) if !(share > 0.0 && share < 1.0) => {
            let reason = "must be above 0 and below 1; without it each message is followed by one";
            refuse("share", reason).map_err(|problem: Problem| problem.under("forward"))
        }
        _ => Ok(()),
    }
}

/// Refuses messages that an alarm of the broker could pile up.
fn memory(group: &ConsumerGroup, forward: &Forward) -> Result<(), Problem> {
    let prefetch = group.prefetch.or(group.channel_prefetch).map_or(0, u64::from);
    let bytes = prefetch.saturating_mul(forward.size.map_or(0, u64::from));
    if bytes > BYTES_MAX {
        let reason = format!(
            "may need {} MiB of memory for each consumer when the broker takes no messages, and {} are the most: a \
             smaller `prefetch` or size is needed",
            bytes >> 20,
            BYTES_MAX >> 20
        );
        return refuse("forward", reason);
    }
    Ok(())
}

fn target(group: &ConsumerGroup, forward: &Forward, context: &Context<'_>) -> Result<(), Problem> {
    match (&forward.queue, &forward.exchange) {
        (Some(queue), None) => {
            if forward.routing_key.is_some() {
                return refuse("routing-key", "is the name of the queue: leave one of the two out");
            }
            fields::short_string("queue", queue)?;
            let target = fields::queue(queue, context)?;
            let source = context.queues.iter().find(|spec| spec.is_meant_by(&group.queue));
            let is_same = |name: &str| source.is_some_and(|source| source.is_meant_by(name));
            let comes_back = queue == &group.queue
                || is_same(queue)
                || target.is_some_and(|target| target.is_meant_by(&group.queue));
            if comes_back {
                let reason = "is read by the same consumers: each message would come back for ever";
                return refuse("queue", reason);
            }
            fields::has_known_name(target, "these consumers")
        }
        (None, Some(exchange)) => {
            fields::short_string("exchange", exchange)?;
            let key = forward.routing_key.as_deref().unwrap_or_default();
            fields::short_string("routing-key", key)?;
            if has_placeholder(key) {
                let reason = "`{}` is not replaced here: give a group of consumers for each key";
                return refuse("routing-key", reason);
            }
            check_exchange(exchange, context)
        }
        _ => refuse("queue", "give either `queue`, or `exchange` with `routing-key`"),
    }
}
