//! A broker as one AMQP connection without load sees it.

use serde::{Deserialize, Serialize};

/// A broker over AMQP. Nothing was published or declared on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Amqp {
    /// Host and port.
    pub address: String,
    /// Name of the product, as the broker calls itself; empty if it does not, like the next two.
    pub product: String,
    /// Version of the product.
    pub version: String,
    /// Version of the platform, such as `Erlang/OTP 25.2.3`.
    pub platform: String,
    /// Length of the observation in seconds.
    pub seconds: f64,
    /// The broker's reason for blocking connections that publish (`connection.blocked`). RabbitMQ tells only connections
    /// that have published, so the absence is no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
    /// Answers to requests on an idle channel. Absent without any answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<RoundTrips>,
    /// The queues that the user named.
    pub queues: Vec<AmqpQueue>,
    /// The reason why the observation ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
}

/// Times from a request to its answer, through reader, channel and writer of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RoundTrips {
    /// Number of answers.
    pub count: u64,
    /// Median in nanoseconds.
    pub p50_nanos: u64,
    /// 99th percentile in nanoseconds; the longest of fewer than 100.
    pub p99_nanos: u64,
}

/// A queue that a passive declaration asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct AmqpQueue {
    /// Name.
    pub name: String,
    /// The queue at the start. Absent without an answer, like the next one.
    pub at_start: Option<QueueState>,
    /// The queue at the end.
    pub at_end: Option<QueueState>,
    /// The last refusal, in the broker's words, or the reason for the lack of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

/// A queue at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueState {
    /// Ready messages.
    pub ready: u64,
    /// Consumers.
    pub consumers: u64,
}

impl RoundTrips {
    /// Summarises times in nanoseconds, in any order.
    pub fn from_nanos(mut nanos: Vec<u64>) -> Option<Self> {
        nanos.sort_unstable();
        let rank = |percent: usize| (nanos.len() * percent).div_ceil(100).saturating_sub(1);
        Some(Self {
            count: nanos.len() as u64,
            p50_nanos: *nanos.get(rank(50))?,
            p99_nanos: *nanos.get(rank(99))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_times() {
        let of = |nanos: Vec<u64>| RoundTrips::from_nanos(nanos);
        assert_eq!(of(Vec::new()), None);
        assert_eq!(of(vec![7]), Some(RoundTrips { count: 1, p50_nanos: 7, p99_nanos: 7 }));
        let found = of((1..=200).rev().collect()).unwrap();
        assert_eq!((found.count, found.p50_nanos, found.p99_nanos), (200, 100, 198));
        assert_eq!(of((1..=50).collect()).unwrap().p99_nanos, 50);
    }
}
