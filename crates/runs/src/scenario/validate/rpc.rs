//! `[[requests]]` and `[[responders]]`.

use std::time::Duration;

use super::{
    super::{
        error::{Problem, refuse},
        model::{QueueSpec, QueueType, ReplyPath, RequestGroup, ResponderGroup},
        wire,
    },
    fields, schedule,
};
use crate::scenario::validate::context::Context;

/// Default timeout: long enough for a busy broker, short enough to be seen within a run.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of requests of one caller that are remembered until their reply.
const CONCURRENCY_MAX: u32 = 1_000_000;

pub(super) fn requests(
    index: usize,
    wire: wire::Requests,
    context: &Context<'_>,
) -> Result<RequestGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    refuse_stream(fields::queue(&wire.queue, context)?)?;
    let concurrency = fields::at_least_one("concurrency", wire.concurrency)?;
    if concurrency.is_some_and(|concurrency| concurrency > CONCURRENCY_MAX) {
        return refuse("concurrency", format!("must be at most {CONCURRENCY_MAX}"));
    }
    let schedule = schedule::Keys {
        rate: fields::rate(wire.rate)?,
        arrival: wire.arrival,
        phases: &wire.phases,
        after_phases: wire.after_phases,
    };
    let schedule = schedule.check()?;
    let timeout = fields::duration("timeout", wire.timeout.as_deref())?;
    Ok(RequestGroup {
        name: wire.name.unwrap_or_else(|| format!("requests-{index}")),
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        queue: fields::short_string("queue", wire.queue)?,
        reply: wire.reply.unwrap_or(ReplyPath::Direct),
        size_bytes: fields::size("size", wire.size.as_deref().unwrap_or("12B"))?,
        persistent: wire.persistent.unwrap_or(false),
        write: wire.write.unwrap_or_default(),
        concurrency: if schedule.is_set() { concurrency } else { concurrency.or(Some(1)) },
        schedule,
        messages: fields::at_least_one("messages", wire.messages)?,
        timeout: timeout.unwrap_or(TIMEOUT),
    })
}

fn refuse_stream(queue: Option<&QueueSpec>) -> Result<(), Problem> {
    match queue.filter(|queue| queue.queue_type == QueueType::Stream) {
        Some(stream) => {
            let name = &stream.name;
            let reason = format!("`{name}` is a stream, which would keep all requests");
            refuse("queue", reason)
        }
        None => Ok(()),
    }
}

pub(super) fn responders(
    index: usize,
    wire: wire::Responders,
    context: &Context<'_>,
) -> Result<ResponderGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    let queue = fields::queue(&wire.queue, context)?;
    refuse_stream(queue)?;
    fields::not_exclusive(queue, "the requests")?;
    let auto_ack = wire.auto_ack.unwrap_or(false);
    if wire.prefetch == Some(0) {
        return refuse("prefetch", "must be from 1 to 65535; leave it out for unlimited");
    }
    if auto_ack && wire.prefetch.is_some() {
        let reason = "limits requests that are not acknowledged yet; with `auto-ack` there are \
                      none: leave one of the two out";
        return refuse("prefetch", reason);
    }
    Ok(ResponderGroup {
        name: wire.name.unwrap_or_else(|| format!("responders-{index}")),
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        queue: fields::short_string("queue", wire.queue)?,
        prefetch: wire.prefetch,
        auto_ack,
        size_bytes: fields::size("size", wire.size.as_deref().unwrap_or("12B"))?,
        write: wire.write.unwrap_or_default(),
    })
}
