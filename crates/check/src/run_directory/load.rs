//! The load generator of a run.

use rabbitscope_diagnosis::{Load, LoadConsumers};
use rabbitscope_runs::{
    record::DoubtKind,
    scenario::{ConsumerGroup, NO_WINDOW, Scenario},
};

use super::measured::Measured;

/// Returns the load generator's view of itself and of the broker.
pub(super) fn load(run: &Measured<'_>) -> Load {
    let counts = &run.counts;
    let is_late = counts.late.saturating_add(counts.dropped);
    let scenario = run.scenario.as_ref();
    let is_scheduled = counts.scheduled > 0 && scenario.is_some_and(all_are_scheduled);
    let growth = run.record.steadiness.as_ref().and_then(|steadiness| steadiness.backlog_growth);
    Load {
        doubts: doubts(run),
        scheduled_per_second: is_scheduled.then(|| run.rate(counts.scheduled)),
        late_share: is_late as f64 / counts.scheduled.max(1) as f64,
        // Without consumers nothing should go out again.
        backlog_growth: growth
            .or_else(|| scenario.filter(|all| all.consumers.is_empty()).map(|_| 0.0)),
        held_back_share: run.record.client.held_back_share,
        confirm_window: scenario.and_then(confirm_window),
        consumers: scenario.and_then(|scenario| consumers(run, scenario)),
    }
}

/// Returns the doubts about the load generator. That the broker's figures still moved is no fault of the load.
fn doubts(run: &Measured<'_>) -> Vec<String> {
    let is_of_load = |kind: DoubtKind| {
        matches!(kind, DoubtKind::ClientLimited | DoubtKind::WorkerLagging | DoubtKind::WorkerLost)
    };
    let doubts = run.record.doubts.iter().filter(|doubt| is_of_load(doubt.kind));
    doubts.map(|doubt| doubt.reason.clone()).collect()
}

fn all_are_scheduled(scenario: &Scenario) -> bool {
    let has_schedule = |late: bool, rate: bool, phases: bool| late || rate || phases;
    let mut publishers = scenario.publishers.iter();
    scenario.requests.is_empty()
        && !scenario.publishers.is_empty()
        && publishers.all(|group| {
            has_schedule(group.late.is_some(), group.rate.is_some(), !group.phases.is_empty())
        })
}

/// Returns the largest window, if every publisher has one.
fn confirm_window(scenario: &Scenario) -> Option<u64> {
    let windows = scenario.publishers.iter().map(|group| {
        let window = group.confirm_window.filter(|window| *window != NO_WINDOW)?;
        Some(u64::from(window))
    });
    windows.collect::<Option<Vec<u64>>>()?.into_iter().max()
}

/// Returns the consumers of the only group, if each has a prefetch and acknowledges. After a lost connection the number
/// of unacknowledged messages is unknown.
fn consumers(run: &Measured<'_>, scenario: &Scenario) -> Option<LoadConsumers> {
    let [group] = &scenario.consumers[..] else { return None };
    let knows = scenario.responders.is_empty() && run.record.load.counts.reconnects == 0;
    let has_queue = group.topics.is_empty();
    let is_counted = has_queue && !group.auto_ack && group.polling != Some(true) && knows;
    let (held, ready) = (held(run)?, run.rows.last()?.queue_messages?);
    is_counted.then_some(LoadConsumers {
        queue: group.queue.clone(),
        held,
        may_hold: may_hold(group)?,
        ready,
    })
}

fn may_hold(group: &ConsumerGroup) -> Option<u64> {
    let channels = u64::from(group.connections.max(1)) * u64::from(group.channels.max(1));
    let each = group.prefetch.filter(|prefetch| *prefetch > 0);
    let by_consumer = each.map(|prefetch| u64::from(prefetch) * u64::from(group.count));
    let by_channel = group.channel_prefetch.filter(|prefetch| *prefetch > 0);
    let by_channel = by_channel.map(|prefetch| u64::from(prefetch) * channels);
    match (by_consumer, by_channel) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Returns the mean number of unacknowledged messages at the ends of the measured seconds.
fn held(run: &Measured<'_>) -> Option<f64> {
    let mut held = Vec::with_capacity(run.rows.len());
    let mut sum: i128 = 0;
    for row in run.all() {
        sum += i128::from(row.counts.delivered) - i128::from(row.counts.settled);
        if !row.draining && !row.warming {
            held.push(sum.max(0) as f64);
        }
    }
    let is_counted = run.counts.delivered > 0 && !held.is_empty();
    is_counted.then(|| held.iter().sum::<f64>() / held.len() as f64)
}
