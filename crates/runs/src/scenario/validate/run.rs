//! `[run]`: its start, warm-up and end, and the recordings during it.

use std::{ops::RangeInclusive, time::Duration};

use super::{
    super::{
        error::{Problem, refuse},
        model::{
            ConsumerGroup, EMPTY_TIMEOUT, IDLE_TIME, PacketsSpec, ProfileSpec, Protocol,
            PublisherGroup, QueueSpec, QueueType, RunOptions, STAMP_BYTES, UntilKind, WarmUp,
        },
    },
    fields,
};

/// Allowed values of `step`.
const STEPS: RangeInclusive<Duration> = Duration::from_micros(50)..=Duration::from_secs(1);

/// Checks the end of a run. `ends` states for each kind of group whether it ends by itself; absent if there is no such
/// group.
pub(super) fn end(run: &mut RunOptions, ends: &[Option<bool>]) -> Result<(), Problem> {
    if ends.iter().all(Option::is_none) {
        let reason = "neither `[[publishers]]`, `[[consumers]]`, `[[requests]]`, \
                      `[[responders]]`, `[[churn]]` nor `[[pollers]]`: there is nothing to run";
        return Err(Problem::new(reason));
    }
    until(run).map_err(|problem| problem.under("run"))?;
    if run.duration.is_none() && run.until.is_none() && !ends.contains(&Some(true)) {
        let reason = "the run would never end: give `[run] duration` or `until`, or `messages` to \
                      all publishers, all consumers or all requests, or `cycles` to all churn";
        return refuse("run", reason);
    }
    Ok(())
}

fn until(run: &mut RunOptions) -> Result<(), Problem> {
    if run.idle_time.is_some() && run.until != Some(UntilKind::Idle) {
        return refuse("idle-time", "goes with `until = \"idle\"`: leave it out");
    }
    if run.empty_timeout.is_some() && run.until != Some(UntilKind::Empty) {
        return refuse("empty-timeout", "goes with `until = \"empty\"`: leave it out");
    }
    match run.until {
        Some(UntilKind::Empty) => {
            run.empty_timeout.get_or_insert(EMPTY_TIMEOUT);
        }
        Some(UntilKind::Idle) => {
            run.idle_time.get_or_insert(IDLE_TIME);
        }
        None => {}
    }
    Ok(())
}

/// Checks `until = "empty"`, which needs publishers that stop, and queues that can be empty and can be queried.
pub(super) fn can_empty(
    run: &RunOptions,
    publishers: &[PublisherGroup],
    consumers: &[ConsumerGroup],
    queues: &[QueueSpec],
) -> Result<(), Problem> {
    if run.until != Some(UntilKind::Empty) {
        return Ok(());
    }
    if let Some(group) = consumers.iter().find(|group| group.protocol == Protocol::Mqtt) {
        let reason = format!(
            "cannot be `empty`: the broker names the queues of `{}`, which subscribes by MQTT, so that their length \
             cannot be queried",
            group.name
        );
        return refuse("until", reason);
    }
    if run.duration.is_none() && !publishers.iter().all(PublisherGroup::ends) {
        let reason = "`empty` needs publishers that stop: give `duration`, or `messages` to all";
        return refuse("until", reason);
    }
    let is_unfit = |queue: &&QueueSpec| {
        let is_unknown = queue.exclusive || queue.server_named;
        is_unknown || queue.queue_type == QueueType::Stream
    };
    match queues.iter().find(is_unfit) {
        None => Ok(()),
        Some(queue) => {
            let why = if queue.server_named {
                "named by the broker, so that its length cannot be queried"
            } else if queue.exclusive {
                "exclusive, so that its length cannot be queried"
            } else {
                "a stream, which is never empty"
            };
            refuse("until", format!("cannot be `empty`: queue `{}` is {why}", queue.name))
        }
    }
}

pub(super) fn options(
    run: &RunOptions,
    publishers: &[PublisherGroup],
    consumers: &[ConsumerGroup],
    queues: &[QueueSpec],
) -> Result<(), Problem> {
    if run.verify {
        verifiable(publishers, consumers, queues)?;
    }
    if let (Some(WarmUp::Time(length)), Some(duration)) = (run.warm_up, run.duration)
        && length >= duration
    {
        return refuse("warm-up", "must be shorter than `duration`: nothing would be measured");
    }
    fields::at_least_one("trace-every", run.trace_every)?;
    let forwards = consumers.iter().any(|group| group.forward.is_some());
    for (key, is_given) in [("verify", run.verify), ("trace-every", run.trace_every.is_some())] {
        if forwards && is_given {
            let reason = "follows each message to its consumer, and `forward` gives several messages one number";
            return refuse(key, reason);
        }
    }
    if run.step.is_some_and(|step| !STEPS.contains(&step)) {
        return refuse("step", "must be from `50us` to `1s`");
    }
    Ok(())
}

pub(super) fn profile(profile: &ProfileSpec, run: &RunOptions) -> Result<(), Problem> {
    if !(1..=20_000).contains(&profile.freq_hz) {
        return refuse("freq", "must be from 1 to 20000 ticks a second");
    }
    if run.duration.is_some_and(|run| profile.delay + profile.duration > run) {
        return refuse("duration", "delay and duration of the profile exceed `run.duration`");
    }
    Ok(())
}

pub(super) fn packets(packets: &PacketsSpec, run: &RunOptions) -> Result<(), Problem> {
    if run.duration.is_some_and(|run| packets.duration > run) {
        return refuse("duration", "the capture is longer than `run.duration`");
    }
    Ok(())
}

/// Checks that `verify` is possible: checked messages must come back to the load generator.
fn verifiable(
    publishers: &[PublisherGroup],
    consumers: &[ConsumerGroup],
    queues: &[QueueSpec],
) -> Result<(), Problem> {
    if queues.iter().any(|queue| queue.server_named) {
        let reason = "needs queues with names: those that the broker names (`server-named`) cannot \
                      be told apart";
        return refuse("verify", reason);
    }
    if publishers.is_empty() || consumers.is_empty() {
        return refuse("verify", "needs publishers and consumers in the same scenario");
    }
    let mut pairs =
        consumers.iter().flat_map(|one| publishers.iter().map(move |other| (one, other)));
    if let Some((readers, writers)) = pairs.find(|(one, other)| one.wants(other).is_none()) {
        let reason = format!(
            "must know which messages of `{}` the filter of `{}` leaves out: it knows filter values and conditions on \
             properties and headers, where all messages of a group have the same; not SQL",
            writers.name, readers.name
        );
        return refuse("verify", reason);
    }
    if queues.iter().any(|queue| queue.prefill > 0) {
        return refuse(
            "verify",
            "would report the messages of `prefill`, which no publisher of the load sent",
        );
    }
    if consumers.iter().any(|group| group.concurrency > 1) {
        let reason = "checks the order of messages, and a consumer with `concurrency` ends them in any order";
        return refuse("verify", reason);
    }
    if !publishers.iter().any(PublisherGroup::is_stamped) {
        let reason = format!(
            "would check nothing: all bodies are smaller than the {STAMP_BYTES} bytes of a stamp; give \
             some publishers a `size` of `{STAMP_BYTES}B` or more"
        );
        return refuse("verify", reason);
    }
    Ok(())
}
