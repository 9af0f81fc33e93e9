//! Settings of a run that every load thread reads while it serves its connections.

use rabbitscope_runs::scenario::{LatencyEnds, Scenario};
use rabbitscope_timing::{Nanos, Numbering, RunClock};

/// Settings that are the same for all threads, and constant during the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSettings {
    pub(crate) clock: RunClock,
    /// Tag of the run in the stamps of its messages.
    pub(crate) tag: u16,
    pub(crate) numbering: Numbering,
    /// True if the run has consumers, which measure end-to-end latencies.
    pub(crate) is_consumed: bool,
    /// The ends of these latencies that are recorded separately.
    pub(crate) ends: LatencyEnds,
    /// Shortest time between two barriers of a channel, where time triggers them.
    pub(crate) barrier_interval: Nanos,
}

/// Shortest interval of barriers. Chosen: the unknown part of a second is then a twentieth of it.
const MIN_BARRIER_INTERVAL: Nanos = Nanos::from_micros(50_000);

/// Time per channel. It limits these barriers to a thousand a second for up to a thousand channels. Beyond that number
/// the interval stays at a second.
const INTERVAL_PER_CHANNEL: Nanos = Nanos::from_micros(1_000);

/// Returns the interval of barriers for the channels of a scenario, at most a second.
pub(crate) fn barrier_interval(scenario: &Scenario) -> Nanos {
    let publishers = scenario.publishers.iter().map(|group| group.count);
    let callers = scenario.requests.iter().map(|group| group.count);
    let responders = scenario.responders.iter().map(|group| group.count);
    let members: u64 = publishers.chain(callers).chain(responders).map(u64::from).sum();
    let fair = Nanos::new(members.saturating_mul(INTERVAL_PER_CHANNEL.get()));
    fair.max(MIN_BARRIER_INTERVAL).min(Nanos::SECOND)
}
