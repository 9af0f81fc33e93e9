//! A load, in the terms of a scenario. Every figure has the remark that stands beside it.

use super::settings::BrokerSettings;
use crate::case::QueueKind;

/// Most queues of a group.
pub(super) const MAX_QUEUES: u64 = 100;
/// Most queues of a group whose number is the problem.
pub(super) const MAX_MANY_QUEUES: u64 = 500;
/// Most publishers or consumers of a group, and most connections.
pub(super) const MAX_MEMBERS: u64 = 100;
/// Highest rate of all publishers where the rate is constant, in messages per second. A small machine keeps it up.
pub(super) const MAX_RATE: f64 = 10_000.0;
/// Largest message in bytes.
pub(super) const MAX_SIZE: u64 = 1 << 20;
/// Most messages of a backlog, and most bytes.
pub(super) const MAX_BACKLOG: u64 = 20_000;
pub(super) const MAX_BACKLOG_BYTES: u64 = 64 << 20;

/// A figure of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure<T> {
    pub(super) value: T,
    /// Remark, such as `assumed`; empty for what was observed as it stands.
    pub(super) note: String,
}

/// A load.
#[derive(Clone, Debug)]
pub(super) struct Load {
    /// Remarks at the beginning of the file.
    pub(super) remarks: Vec<String>,
    pub(super) broker: BrokerSettings,
    /// Length of the load in seconds, warm-up included.
    pub(super) seconds: u64,
    /// Queues with their publishers and consumers. The finding is about the first group, of which there is one always.
    pub(super) groups: Vec<Group>,
    pub(super) churn: Option<Churn>,
    pub(super) poller: Option<Poller>,
}

/// Queues of a type, with their publishers and consumers.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kind: QueueKind,
    pub(super) queues: Figure<u64>,
    pub(super) is_durable: bool,
    /// Arguments of the queues, with values in TOML.
    pub(super) arguments: Vec<(&'static str, String)>,
    pub(super) publishers: Publishers,
    pub(super) consumers: Option<Consumers>,
    /// Messages that wait when the consumers start.
    pub(super) backlog: Option<Figure<u64>>,
}

/// Publishers of a group of queues.
#[derive(Clone, Debug)]
pub(super) struct Publishers {
    pub(super) count: Figure<u64>,
    pub(super) connections: Figure<u64>,
    pub(super) size_bytes: Figure<u64>,
    pub(super) is_persistent: bool,
    pub(super) confirms: Confirms,
    /// Rate of all of them, in messages per second; absent for as fast as possible.
    pub(super) rate: Option<Figure<f64>>,
}

/// The answers that publishers wait for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Confirms {
    /// None.
    No,
    /// At most this number of messages without an answer.
    Window(Figure<u64>),
    /// The arms say it.
    OfArm,
}

/// Consumers of a group of queues.
#[derive(Clone, Debug)]
pub(super) struct Consumers {
    pub(super) count: Figure<u64>,
    pub(super) connections: Figure<u64>,
    pub(super) settling: Settling,
    /// Time for which a consumer works on a message, in microseconds; 0 for none.
    pub(super) processing_us: Figure<u64>,
}

/// The way in which consumers get and settle messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Settling {
    /// Without acknowledgements.
    Automatic,
    /// An acknowledgement for each number of messages. A prefetch of 0 is no limit.
    Acknowledged { prefetch: Figure<u64>, each: Figure<u64> },
    /// `basic.get`, with the time from an answer to the next question in microseconds.
    Polling { pause_us: Figure<u64> },
}

/// Things that are opened and closed.
#[derive(Clone, Debug)]
pub(super) struct Churn {
    /// Kind in the scenario's words, such as `connections`.
    pub(super) kind: &'static str,
    /// Opened per second.
    pub(super) rate: Figure<f64>,
}

/// Requests to the management API.
#[derive(Clone, Debug)]
pub(super) struct Poller {
    pub(super) path: &'static str,
    pub(super) interval_ms: Figure<u64>,
}

impl<T> Figure<T> {
    /// Creates a figure that was observed.
    pub(super) fn seen(value: T) -> Self {
        Self { value, note: String::new() }
    }

    /// Creates a figure with a remark.
    pub(super) fn noted(value: T, note: impl Into<String>) -> Self {
        Self { value, note: note.into() }
    }
}

impl Figure<u64> {
    /// Creates an observed number within 1 and a limit. A remark says if it is less than the observed one.
    pub(super) fn at_most(observed: u64, limit: u64, noun: &str) -> Self {
        if observed > limit {
            return Self::noted(limit, format!("a part of {observed} {noun}"));
        }
        Self::seen(observed.max(1))
    }
}

impl Load {
    /// Makes the first group of a fitting type the first of all. Returns false if there is none.
    pub(super) fn put_first(&mut self, is_fit: impl Fn(QueueKind) -> bool) -> bool {
        let found = self.groups.iter().position(|group| is_fit(group.kind));
        found.inspect(|at| self.groups.swap(0, *at)).is_some()
    }

    /// Lets the publishers of the first group send as fast as possible, and leaves the other groups out.
    pub(super) fn at_full_speed(&mut self) -> &mut Group {
        let others = self.groups.len() - 1;
        if others > 0 {
            self.groups.truncate(1);
            self.remarks.push(
                "Queues that the finding is not about are left out: their rates would hide the change."
                    .to_owned(),
            );
        }
        let group = &mut self.groups[0];
        group.publishers.rate = None;
        if group.consumers.is_none() {
            group.limit_length();
        }
        group
    }

    /// Returns the first group. All publishers keep the observed rate.
    pub(super) fn at_observed_rate(&mut self) -> &mut Group {
        self.remarks.push(
            "The rate is constant, because the CPU time of a message depends on it.".to_owned(),
        );
        &mut self.groups[0]
    }
}

impl Group {
    /// Limits the length of queues without consumers, so that they do not fill a disk.
    fn limit_length(&mut self) {
        let bytes = (256 << 20) / self.queues.value.max(1);
        self.arguments.push(("x-max-length-bytes", bytes.to_string()));
    }
}

/// Returns a number from a figure that may be anything, within 0 and a limit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the limits")]
pub(super) fn whole(figure: f64, limit: u64) -> u64 {
    if figure.is_nan() { 0 } else { figure.clamp(0.0, limit as f64).round() as u64 }
}

/// Returns the part of a number that belongs to a share, at least 1.
pub(super) fn part(number: u64, share: f64) -> u64 {
    whole(number as f64 * share, number).max(1)
}
