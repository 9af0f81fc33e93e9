//! `[[consumers]]`.

use super::{
    super::{
        error::{Problem, refuse},
        model::{ConsumerGroup, QueueSpec, QueueType},
        wire,
    },
    Context, fields,
};

pub(super) fn group(
    index: usize,
    wire: wire::Consumers,
    context: &Context<'_>,
) -> Result<ConsumerGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    let queue = fields::queue(&wire.queue, context)?;
    acknowledgement(&wire)?;
    shared_channel(&wire, &spread)?;
    if let Some(queue) = queue {
        fits(&wire, queue)?;
    }
    Ok(ConsumerGroup {
        name: wire.name.unwrap_or_else(|| format!("consumers-{index}")),
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        queue: fields::short_string("queue", wire.queue)?,
        prefetch: wire.prefetch,
        auto_ack: wire.auto_ack.unwrap_or(false),
        multi_ack_every: wire.multi_ack_every.unwrap_or(1),
        arguments: wire.arguments,
        messages: fields::at_least_one("messages", wire.messages)?,
    })
}

fn acknowledgement(wire: &wire::Consumers) -> Result<(), Problem> {
    if wire.prefetch == Some(0) {
        return refuse("prefetch", "must be from 1 to 65535; leave it out for unlimited");
    }
    let every = wire.multi_ack_every.unwrap_or(1);
    if every == 0 {
        return refuse("multi-ack-every", "must be at least 1, which acknowledges each message");
    }
    let auto_ack = wire.auto_ack.unwrap_or(false);
    if auto_ack && wire.multi_ack_every.is_some_and(|every| every > 1) {
        let reason = "nothing is acknowledged with `auto-ack`: leave one of the two out";
        return refuse("multi-ack-every", reason);
    }
    if auto_ack && wire.prefetch.is_some() {
        let reason = "limits messages that are not acknowledged yet; with `auto-ack` there are \
                      none: leave one of the two out";
        return refuse("prefetch", reason);
    }
    match wire.prefetch {
        Some(prefetch) if every > u32::from(prefetch) => {
            let reason = format!(
                "is {every}, but the broker stops at {prefetch} unacknowledged messages \
                 (`prefetch`), so the consumer would wait for ever: at most {prefetch} is allowed"
            );
            refuse("multi-ack-every", reason)
        }
        _ => Ok(()),
    }
}

/// An acknowledgement of many covers all consumers of a channel, also what came for one that has
/// had its last message and must give the rest back.
fn shared_channel(wire: &wire::Consumers, spread: &fields::Spread) -> Result<(), Problem> {
    let is_shared = spread.count.div_ceil(spread.connections) > spread.channels;
    let acknowledges_many = wire.multi_ack_every.unwrap_or(1) > 1;
    if wire.messages.is_some() && is_shared && acknowledges_many {
        let reason = "cannot be combined with `multi-ack-every` when consumers share a channel: \
                      leave `channels` out, so that each has its own";
        return refuse("messages", reason);
    }
    Ok(())
}

fn fits(wire: &wire::Consumers, queue: &QueueSpec) -> Result<(), Problem> {
    let is_stream = queue.queue_type == QueueType::Stream;
    if is_stream && wire.auto_ack == Some(true) {
        return refuse("auto-ack", "RabbitMQ has no automatic acknowledgement for streams");
    }
    if is_stream && wire.prefetch.is_none() {
        let reason = "is missing: RabbitMQ refuses to read a stream without it; 1 to 65535";
        return refuse("prefetch", reason);
    }
    if !is_stream && wire.arguments.contains_key("x-stream-offset") {
        let reason = format!("only streams have offsets, and `{}` is none", queue.name);
        let refused: Result<(), Problem> = refuse("x-stream-offset", reason);
        return refused.map_err(|problem| problem.under("arguments"));
    }
    Ok(())
}

/// An exclusive queue belongs to one connection: that of its consumers.
pub(super) fn exclusive_queues(
    queues: &[QueueSpec],
    groups: &[ConsumerGroup],
) -> Result<(), Problem> {
    for queue in queues.iter().filter(|queue| queue.exclusive) {
        let mut readers = groups.iter().enumerate().filter(|(_, group)| group.queue == queue.name);
        let first = readers.next();
        let crowded = first.filter(|(_, group)| group.connections > 1).or(readers.next());
        if let Some((index, _)) = crowded {
            let reason = format!(
                "`{}` is exclusive: one group with `connections = 1` can read it",
                queue.name
            );
            let refused: Result<(), Problem> = refuse("queue", reason);
            return refused.map_err(|problem| problem.under(index.to_string()).under("consumers"));
        }
    }
    Ok(())
}
