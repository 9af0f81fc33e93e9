//! Moments of timers: those of one program may take turns, those of several programs have random moments.

use crate::observe::{PublishFlow, STARTING};

/// Part of the distance between two timers that take turns by which it may differ.
const TOLERANCE: f64 = 0.2;

/// Returns whether publishers with timers take turns at equal distances, behind their start and with the last message.
pub(super) fn take_turns(flows: &[&PublishFlow]) -> bool {
    let Some(interval) = flows.first().and_then(|flow| interval(flow)) else { return false };
    let started: Option<Vec<u64>> = flows.iter().map(|flow| flow.started).collect();
    let Some(started) = started.filter(|started| started.len() > 1) else { return false };
    are_even(started.iter().copied(), interval)
        && are_even(flows.iter().map(|flow| flow.last), interval)
}

/// Returns whether moments, less whole intervals, divide an interval into equal parts.
fn are_even(moments: impl Iterator<Item = u64> + Clone, interval: f64) -> bool {
    let begin = moments.clone().min().unwrap_or(0);
    let mut phases: Vec<f64> = moments.map(|at| (at - begin) as f64 % interval).collect();
    phases.sort_by(f64::total_cmp);
    let even = interval / phases.len() as f64;
    let after_the_last = phases.first().map(|first| first + interval);
    let ends = phases.iter().skip(1).copied().chain(after_the_last);
    phases.iter().zip(ends).all(|(begin, end)| (end - begin - even).abs() <= TOLERANCE * even)
}

/// Returns the time between two messages in nanoseconds; absent for few.
fn interval(flow: &PublishFlow) -> Option<f64> {
    let gaps = flow.messages.checked_sub(STARTING + 1).filter(|gaps| *gaps > 0)?;
    let interval = flow.last.saturating_sub(flow.started?) as f64 / gaps as f64;
    (interval > 0.0).then_some(interval)
}
