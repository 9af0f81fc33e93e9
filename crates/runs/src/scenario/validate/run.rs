//! `[run]`: its start, warm-up and end.

use std::{ops::RangeInclusive, time::Duration};

use super::{
    super::{
        error::{Problem, quoted, refuse},
        model::{
            ConsumerGroup, PublisherGroup, QueueNames, QueueSpec, QueueType, RunOptions,
            STAMP_BYTES, Stop, Until, WarmUp,
        },
        wire::{self, UntilKind},
    },
    fields,
};
use rabbitscope_text::parse_utc;

/// Default idle time for `until = "idle"`.
const IDLE_TIME: Duration = Duration::from_secs(5);

/// Allowed values of `step`.
const STEPS: RangeInclusive<Duration> = Duration::from_micros(50)..=Duration::from_secs(1);

/// Default time that queues may take to be empty for `until = "empty"`.
const EMPTY_TIMEOUT: Duration = Duration::from_secs(300);

/// Checks the end of a run. `ends` states for each kind of group whether it ends by itself; absent if there is no such
/// group.
pub(super) fn stop(run: &wire::Run, ends: &[Option<bool>]) -> Result<Stop, Problem> {
    if ends.iter().all(Option::is_none) {
        let reason = "neither `[[publishers]]`, `[[consumers]]`, `[[requests]]`, \
                      `[[responders]]`, `[[churn]]` nor `[[pollers]]`: there is nothing to run";
        return Err(Problem::new(reason));
    }
    let under_run = |problem: Problem| problem.under("run");
    let duration = fields::duration("duration", run.duration.as_deref()).map_err(under_run)?;
    let until = until(run).map_err(under_run)?;
    if duration.is_none() && until.is_none() && !ends.contains(&Some(true)) {
        let reason = "the run would never end: give `[run] duration` or `until`, or `messages` to \
                      all publishers, all consumers or all requests, or `cycles` to all churn";
        return refuse("run", reason);
    }
    Ok(Stop { duration, until })
}

fn until(run: &wire::Run) -> Result<Option<Until>, Problem> {
    let idle_time = fields::duration("idle-time", run.idle_time.as_deref())?;
    if idle_time.is_some() && run.until != Some(UntilKind::Idle) {
        return refuse("idle-time", "goes with `until = \"idle\"`: leave it out");
    }
    let empty_timeout = fields::duration("empty-timeout", run.empty_timeout.as_deref())?;
    if empty_timeout.is_some() && run.until != Some(UntilKind::Empty) {
        return refuse("empty-timeout", "goes with `until = \"empty\"`: leave it out");
    }
    Ok(run.until.map(|kind| match kind {
        UntilKind::Empty => Until::Empty(empty_timeout.unwrap_or(EMPTY_TIMEOUT)),
        UntilKind::Idle => Until::Idle(idle_time.unwrap_or(IDLE_TIME)),
    }))
}

/// Checks `until = "empty"`, which needs publishers that stop, and queues that can be empty and can be queried.
pub(super) fn can_empty(
    stop: &Stop,
    publishers: &[PublisherGroup],
    queues: &[QueueSpec],
) -> Result<(), Problem> {
    let Some(Until::Empty(_)) = stop.until else { return Ok(()) };
    if stop.duration.is_none() && !publishers.iter().all(PublisherGroup::ends) {
        let reason = "`empty` needs publishers that stop: give `duration`, or `messages` to all";
        return refuse("until", reason);
    }
    let is_unfit = |queue: &&QueueSpec| {
        let is_unknown = queue.exclusive || queue.names == QueueNames::ByBroker;
        is_unknown || queue.queue_type == QueueType::Stream
    };
    match queues.iter().find(is_unfit) {
        None => Ok(()),
        Some(queue) => {
            let why = if queue.names == QueueNames::ByBroker {
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
    run: &wire::Run,
    stop: &Stop,
    publishers: &[PublisherGroup],
    consumers: &[ConsumerGroup],
    queues: &[QueueSpec],
) -> Result<RunOptions, Problem> {
    let verify = run.verify.unwrap_or(false);
    if verify {
        verifiable(publishers, consumers, queues)?;
    }
    Ok(RunOptions {
        warm_up: warm_up(run.warm_up.as_deref(), stop)?,
        start_at: run.start_at.as_deref().map(start_at).transpose()?,
        verify,
        trace_every: fields::at_least_one("trace-every", run.trace_every)?,
        step: step(run.step.as_deref())?,
        self_check: run.self_check.unwrap_or(true),
        stop_on_failure: run.stop_on_failure.unwrap_or(false),
        latency_by_queue: run.latency_by_queue.unwrap_or(false),
    })
}

fn step(text: Option<&str>) -> Result<Option<Duration>, Problem> {
    let step = fields::duration("step", text)?;
    if step.is_some_and(|step| !STEPS.contains(&step)) {
        return refuse("step", "must be from `50us` to `1s`");
    }
    Ok(step)
}

fn warm_up(text: Option<&str>, stop: &Stop) -> Result<Option<WarmUp>, Problem> {
    let Some(text) = text else { return Ok(None) };
    if text == "auto" {
        return Ok(Some(WarmUp::Auto));
    }
    let Some(length) = fields::duration("warm-up", Some(text)).map_err(|problem| Problem {
        reason: format!("{}, or `auto`", problem.reason),
        ..problem
    })?
    else {
        return Ok(None);
    };
    if stop.duration.is_some_and(|duration| length >= duration) {
        return refuse("warm-up", "must be shorter than `duration`: nothing would be measured");
    }
    Ok(Some(WarmUp::Time(length)))
}

fn start_at(text: &str) -> Result<Duration, Problem> {
    parse_utc(text).ok_or_else(|| {
        let reason =
            format!("{} is not a point in time such as `2026-01-01T12:00:00Z`", quoted(text));
        Problem::new(reason).under("start-at")
    })
}

/// Checks that `verify` is possible: checked messages must come back to the load generator.
fn verifiable(
    publishers: &[PublisherGroup],
    consumers: &[ConsumerGroup],
    queues: &[QueueSpec],
) -> Result<(), Problem> {
    if queues.iter().any(|queue| queue.names == QueueNames::ByBroker) {
        let reason = "needs queues with names: those that the broker names (`server-named`) cannot \
                      be told apart";
        return refuse("verify", reason);
    }
    if publishers.is_empty() || consumers.is_empty() {
        return refuse("verify", "needs publishers and consumers in the same scenario");
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
