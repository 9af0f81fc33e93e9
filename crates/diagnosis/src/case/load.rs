//! The load generator of a recorded run, as it saw itself and the broker.

/// The load of a recorded run. Shares are of the measured time, 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Load {
    /// Reasons why the load generator, and not the broker, decided the figures, in words. Empty for a valid run.
    pub doubts: Vec<String>,
    /// Messages per second that schedules asked for. Absent if any publisher has none.
    pub scheduled_per_second: Option<f64>,
    /// Scheduled messages that were late or never sent, as a share of all.
    pub late_share: f64,
    /// Incoming messages that did not go out again, as a share of all. Absent in a run that was too short to tell.
    pub backlog_growth: Option<f64>,
    /// Share of the time in which the broker held publishers back: full sockets, full confirm windows, alarms.
    pub held_back_share: f64,
    /// Most unconfirmed messages of a publisher. Absent without confirms, and without a limit.
    pub confirm_window: Option<u64>,
    /// The consumers. Absent if they have no common limit, or if their unacknowledged messages are unknown.
    pub consumers: Option<LoadConsumers>,
}

/// The consumers of a run, all together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadConsumers {
    /// Name of their queue, or of their set of queues.
    pub queue: String,
    /// Mean number of unacknowledged messages.
    pub held: f64,
    /// Unacknowledged messages that their prefetch permits.
    pub may_hold: u64,
    /// Ready messages at the end of the measured time.
    pub ready: u64,
}
