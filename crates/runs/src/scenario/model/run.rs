//! `[run]`: start, warm-up, end and options of a run, and the recordings during it.

use std::time::Duration;

use rabbitscope_text::{display_duration, parse_duration};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use super::{
    ProfileEvents,
    values::{instant, is_true, refused, span, time, yes},
};

/// The end and the options of a run. The load ends at the earliest of its ends. Publishers that all have a message
/// count also end it when they are done, and so do consumers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the scenario")]
pub struct RunOptions {
    /// Length of the load; absent if message counts are the only end.
    #[serde(default, with = "span")]
    pub duration: Option<Duration>,
    /// Condition that ends the load.
    pub until: Option<UntilKind>,
    /// Time without a message that ends an `idle` run.
    #[serde(default, with = "span")]
    pub idle_time: Option<Duration>,
    /// Time that queues may take to be `empty`.
    #[serde(default, with = "span")]
    pub empty_timeout: Option<Duration>,
    /// Start of the load, as time since 1970-01-01 UTC; absent for as soon as possible.
    #[serde(default, with = "instant")]
    pub start_at: Option<Duration>,
    /// The warm-up that rates and latencies leave out; absent for none.
    pub warm_up: Option<WarmUp>,
    /// Every delivery is checked for loss, duplicates and order.
    #[serde(default)]
    pub verify: bool,
    /// Each publisher's messages whose number is a multiple of this are followed; absent for none.
    pub trace_every: Option<u64>,
    /// Time from one pass over sockets and schedules to the next; absent for a small part of the latency.
    #[serde(default, with = "span")]
    pub step: Option<Duration>,
    /// A run that the load generator itself limits is not valid.
    #[serde(default = "yes")]
    pub self_check: bool,
    /// The run ends as soon as a limit of `[expect]` has failed for good.
    #[serde(default)]
    pub stop_on_failure: bool,
    /// End-to-end latencies are also recorded for each queue separately.
    #[serde(default)]
    pub latency_by_queue: bool,
    /// Asks up to eight queues for their messages, twice a second.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub queue_depths: bool,
}

/// Name of a condition that ends the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UntilKind {
    /// [`Until::Empty`]
    Empty,
    /// [`Until::Idle`]
    Idle,
}

/// An end of the load besides time and message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Every queue of the scenario is empty, at most this long after the publishers have stopped (or, without
    /// publishers, after the start).
    Empty(Duration),
    /// Nothing was published or delivered for this long.
    Idle(Duration),
}

/// The part at the beginning that rates and latencies leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// A fixed time.
    Time(Duration),
    /// Until throughput is steady.
    Auto,
}

/// A profile recorded during the load.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileSpec {
    /// The sampled events.
    #[serde(default)]
    pub event: ProfileEvents,
    /// Time between start of load and start of the recording.
    #[serde(default, with = "time")]
    pub delay: Duration,
    /// Length of the recording.
    #[serde(with = "span")]
    pub duration: Duration,
    /// Ticks per second on each CPU.
    #[serde(rename = "freq", default = "ticks")]
    pub freq_hz: u32,
}

fn ticks() -> u32 {
    999
}

/// A capture of packets and sockets during the load.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PacketsSpec {
    /// Length of the capture from the start of the load; it begins with the first connection.
    #[serde(with = "span")]
    pub duration: Duration,
    /// The packets are kept, without credentials and bodies of messages.
    #[serde(default)]
    pub save: bool,
}

/// Default idle time for `until = "idle"`.
pub(in crate::scenario) const IDLE_TIME: Duration = Duration::from_secs(5);

/// Default time that queues may take to be empty for `until = "empty"`.
pub(in crate::scenario) const EMPTY_TIMEOUT: Duration = Duration::from_secs(300);

impl RunOptions {
    /// Returns the condition that ends the load.
    pub fn until(&self) -> Option<Until> {
        self.until.map(|kind| match kind {
            UntilKind::Empty => Until::Empty(self.empty_timeout.unwrap_or(EMPTY_TIMEOUT)),
            UntilKind::Idle => Until::Idle(self.idle_time.unwrap_or(IDLE_TIME)),
        })
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            duration: None,
            until: None,
            idle_time: None,
            empty_timeout: None,
            warm_up: None,
            start_at: None,
            verify: false,
            trace_every: None,
            step: None,
            self_check: true,
            stop_on_failure: false,
            latency_by_queue: false,
            queue_depths: true,
        }
    }
}

const AUTO: &str = "auto";

impl Serialize for WarmUp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Time(length) => serializer.collect_str(&display_duration(*length)),
        }
    }
}

impl<'de> Deserialize<'de> for WarmUp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == AUTO {
            return Ok(Self::Auto);
        }
        match parse_duration(&text) {
            Ok(Duration::ZERO) => Err(D::Error::custom("must be longer than 0s, or `auto`")),
            Ok(length) => Ok(Self::Time(length)),
            Err(error) => {
                let refused: D::Error = refused(&error);
                Err(D::Error::custom(format!("{refused}, or `{AUTO}`")))
            }
        }
    }
}
