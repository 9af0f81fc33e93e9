//! Timers that began together: programs that one command starts, or threads of one program.

use crate::observe::PublishFlow;

/// Part of the time between two messages within which publishers send at the same moment.
const SAME_MOMENT: f64 = 0.1;

/// Returns whether publishers with timers send at the same moments, from the first message to the last.
pub(super) fn are_in_step(flows: &[&PublishFlow]) -> bool {
    let [first, others @ ..] = flows else { return false };
    let Some(interval) = interval(first) else { return false };
    let is_near = |one: u64, other: u64| {
        let distance = one.abs_diff(other) as f64 % interval;
        distance.min(interval - distance) <= SAME_MOMENT * interval
    };
    !others.is_empty()
        && others
            .iter()
            .all(|other| is_near(first.first, other.first) && is_near(first.last, other.last))
}

/// Returns the time between two messages in nanoseconds; absent for fewer.
fn interval(flow: &PublishFlow) -> Option<f64> {
    let gaps = flow.messages.checked_sub(1).filter(|gaps| *gaps > 0)?;
    let interval = flow.last.saturating_sub(flow.first) as f64 / gaps as f64;
    (interval > 0.0).then_some(interval)
}
