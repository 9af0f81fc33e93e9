//! `[[requests]]` and `[[responders]]`.

use super::{
    super::{
        error::{Problem, refuse},
        model::{QueueSpec, QueueType, RequestGroup, ResponderGroup},
    },
    fields, schedule,
};
use crate::scenario::validate::context::Context;

/// Maximum number of requests of one caller that are remembered until their reply.
const CONCURRENCY_MAX: u32 = 1_000_000;

pub(super) fn requests(
    index: usize,
    group: &mut RequestGroup,
    context: &Context<'_>,
) -> Result<(), Problem> {
    fields::name(&mut group.name, "requests", index);
    fields::spread(group.count, group.connections, &mut group.channels)?;
    refuse_stream(fields::queue(&group.queue, context)?)?;
    fields::short_string("queue", &group.queue)?;
    fields::at_least_one("concurrency", group.concurrency)?;
    if group.concurrency.is_some_and(|concurrency| concurrency > CONCURRENCY_MAX) {
        return refuse("concurrency", format!("must be at most {CONCURRENCY_MAX}"));
    }
    fields::rate(group.rate)?;
    let schedule = schedule::Keys {
        rate: group.rate,
        arrival: &mut group.arrival,
        phases: &mut group.phases,
        after_phases: &mut group.after_phases,
    };
    if !schedule.check()? {
        group.concurrency.get_or_insert(1);
    }
    fields::at_least_one("messages", group.messages)
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
    group: &mut ResponderGroup,
    context: &Context<'_>,
) -> Result<(), Problem> {
    fields::name(&mut group.name, "responders", index);
    fields::spread(group.count, group.connections, &mut group.channels)?;
    let queue = fields::queue(&group.queue, context)?;
    refuse_stream(queue)?;
    fields::not_exclusive(queue, "the requests")?;
    fields::short_string("queue", &group.queue)?;
    if group.prefetch == Some(0) {
        return refuse("prefetch", "must be from 1 to 65535; leave it out for unlimited");
    }
    if group.auto_ack && group.prefetch.is_some() {
        let reason = "limits requests that are not acknowledged yet; with `auto-ack` there are \
                      none: leave one of the two out";
        return refuse("prefetch", reason);
    }
    Ok(())
}
