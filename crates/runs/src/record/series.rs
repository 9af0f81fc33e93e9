//! One second of a run.

use serde::{Deserialize, Serialize};

use super::{Counters, PollPoint};

/// A line of `series.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SecondRow {
    /// Seconds since the load started; the first line is 0 and covers the time from 0 to 1.
    pub second: u32,
    /// True length of the interval in nanoseconds (the last one may be shorter).
    pub interval_nanos: u64,
    /// The publishers have stopped; outstanding confirms and messages are awaited. Such a row is no
    /// part of any rate.
    #[serde(default)]
    pub draining: bool,
    /// Part of the warm-up. Such a row is no part of any rate or whole-run latency.
    #[serde(default)]
    pub warming: bool,
    /// What happened within this second.
    #[serde(flatten)]
    pub counts: Counters,
    /// Connections that were up at the end of this second.
    #[serde(default)]
    pub connections: u64,
    /// Messages sent and not yet confirmed at the end of this second.
    pub unconfirmed: u64,
    /// Messages ready in the scenario's queues at the end of this second, when there are few queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_messages: Option<u64>,
    /// What was measured within this second.
    #[serde(flatten)]
    pub latencies: SecondLatencies,
    /// One for each group of HTTP pollers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polls: Vec<PollPoint>,
    /// CPU of the broker in cores, user and system, when it is on this machine.
    pub broker_cpu_cores: Option<f64>,
    /// Resident memory of the broker in bytes, when it is on this machine.
    pub broker_rss_bytes: Option<u64>,
    /// CPU of rabbitscope itself in cores.
    pub client_cpu_cores: Option<f64>,
    /// CPU of its busiest load thread, as a share of real time, 0 to 1.
    #[serde(default)]
    pub client_busiest_share: Option<f64>,
}

/// A latency of [`SecondLatencies`]: its names, and how to read it.
#[derive(Clone, Copy, Debug)]
pub struct SecondLatency {
    /// As in `series.jsonl`, but with `_` for `-`: `end_to_end_latency`.
    pub name: &'static str,
    /// For people: `end-to-end latency`.
    pub title: &'static str,
    /// Its value.
    pub value: fn(&SecondLatencies) -> Option<LatencyPoint>,
}

macro_rules! latencies {
    ($($name:ident, $title:literal, $help:literal;)*) => {
        /// Latencies within one second; nothing where none was measured.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct SecondLatencies {
            $(#[doc = $help] pub $name: Option<LatencyPoint>,)*
        }

        impl SecondLatencies {
            /// Every latency, in the order in which they are listed everywhere.
            pub const ALL: &[SecondLatency] = &[
                $(SecondLatency {
                    name: stringify!($name),
                    title: $title,
                    value: |latencies| latencies.$name,
                },)*
            ];
        }
    };
}

latencies! {
    confirm_latency, "confirm latency", "From write to confirm.";
    confirm_intended_latency, "  from schedule", "From the time that the schedule asked for to confirm.";
    end_to_end_latency, "end-to-end latency", "From write to delivery.";
    end_to_end_intended_latency, "  from schedule", "From the time that the schedule asked for to delivery.";
    round_trip_latency, "round trip", "From sending a request to its reply.";
    round_trip_intended_latency, "  from schedule", "From the time that the schedule asked for to the reply.";
    client_delay, "client delay", "The client's own part of the time from the schedule to sending: nothing else was in the way.";
    churn_open_latency, "churn: open", "From asking for something that comes and goes to the broker's answer.";
    churn_close_latency, "churn: close", "From giving it back to the broker's answer.";
}

/// Latencies within one second, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencyPoint {
    /// Number of measurements.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 95 % are below.
    pub p95: u64,
    /// 99 % are below.
    pub p99: u64,
    /// 99.9 % are below.
    #[serde(default)]
    pub p999: u64,
    /// 99.99 % are below.
    #[serde(default)]
    pub p9999: u64,
    /// The largest that occurred.
    pub max: u64,
}
