//! The broker's availability: spans without service, spans blocked by an alarm, and errors.

use serde::{Deserialize, Serialize};

use super::{Counters, SecondRow};

/// The times without service. Their sums are in [`super::LoadTotals`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Service {
    /// There was no service when the load ended.
    pub ended_without: bool,
    /// The spans in the order in which they began.
    pub spans: Vec<ServiceSpan>,
    /// Number of further spans beyond the room here.
    pub spans_left_out: u64,
    /// Waits of publishers for confirms, in a run with faults. In the order in which they began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Number of further stalls beyond the room here.
    #[serde(skip_serializing_if = "is_zero")]
    pub stalls_left_out: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A time in which at least one channel of publishers had no connection, or no confirm for 100 ms or longer although
/// one was due. Overlapping waits are one stall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Stall {
    /// Time of the last confirm before the first of these waits, in nanoseconds since the load began.
    pub from_nanos: u64,
    /// Time of the first confirm after the last of these waits, in nanoseconds since the load began.
    pub to_nanos: u64,
    /// Number of waits of single channels.
    pub waits: u64,
    /// The longest of the waits, in nanoseconds.
    pub longest_nanos: u64,
}

/// Reads the time of a span from a second.
type SpanTime = fn(&Counters) -> u64;

impl Service {
    /// Derives spans from the seconds of a run that left nothing else: whole seconds that had any time without service,
    /// or with an alarm. Spans are in order of time.
    pub fn of_seconds(rows: &[SecondRow]) -> Self {
        let kinds: [(SpanKind, SpanTime); 2] = [
            (SpanKind::Down, |counts| counts.without_service_nanos),
            (SpanKind::Blocked, |counts| counts.alarm_nanos),
        ];
        let mut spans: Vec<ServiceSpan> = Vec::new();
        for (kind, time) in kinds {
            let mut to_nanos = 0;
            for row in rows {
                let from_nanos = to_nanos;
                to_nanos += row.interval_nanos;
                if time(&row.counts) == 0 {
                    continue;
                }
                match spans.last_mut() {
                    Some(last) if last.kind == kind && last.to_nanos == from_nanos => {
                        last.to_nanos = to_nanos;
                    }
                    _ => {
                        let reason = "only its seconds are known".to_owned();
                        spans.push(ServiceSpan { kind, from_nanos, to_nanos, reason });
                    }
                }
            }
        }
        spans.sort_by_key(|span| span.from_nanos);
        Self { spans, ..Self::default() }
    }
}

/// A time span of the load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ServiceSpan {
    /// The kind of span.
    pub kind: SpanKind,
    /// Start of the span, in nanoseconds since the load began.
    pub from_nanos: u64,
    /// End of the span, in nanoseconds since the load began.
    pub to_nanos: u64,
    /// The reason, in the broker's words if it gave one.
    pub reason: String,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// All connections of publishers and callers were lost, or all of consumers and responders, or all of churn. This
    /// is a time without service.
    Down,
    /// Whole seconds in which nothing came from the broker although it owed answers all the time. This is a time
    /// without service, too.
    Silent,
    /// An alarm of the broker blocked at least one connection.
    Blocked,
}

/// An error that a run survived, or that ended it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorCount {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Number of such errors.
    pub count: u64,
    /// The last such error, in a sentence.
    pub last: String,
    /// Time of the last error, in nanoseconds since the load began.
    pub last_at_nanos: u64,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// A connection broke, or nothing came over it for too long.
    ConnectionLost,
    /// The broker closed a connection and said why.
    ConnectionClosed,
    /// The broker closed a channel and said why.
    ChannelClosed,
    /// The broker ended a consumer.
    ConsumerCancelled,
    /// A lost connection could not be made again at once.
    NotReconnected,
    /// The broker did not take a new token. Open connections keep the old one.
    TokenRefused,
    /// Anything else.
    Other,
}

impl ErrorKind {
    /// Returns the words for a person, to be followed by a number of times.
    pub fn words(self) -> &'static str {
        match self {
            Self::ConnectionLost => "connection lost",
            Self::ConnectionClosed => "connection closed by the broker",
            Self::ChannelClosed => "channel closed by the broker",
            Self::ConsumerCancelled => "consumer ended by the broker",
            Self::NotReconnected => "connection not made again",
            Self::TokenRefused => "new token refused by the broker",
            Self::Other => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_tell_when_there_was_no_service() {
        let row = |second: u32, without: u64, alarm: u64| SecondRow {
            second,
            interval_nanos: 1000,
            counts: Counters {
                without_service_nanos: without,
                alarm_nanos: alarm,
                ..Counters::default()
            },
            ..SecondRow::default()
        };
        let rows = [
            row(0, 0, 0),
            row(1, 0, 7),
            row(2, 400, 0),
            row(3, 1000, 0),
            row(4, 0, 0),
            row(5, 1, 1),
        ];
        let spans = Service::of_seconds(&rows).spans;
        let found: Vec<_> =
            spans.iter().map(|span| (span.kind, span.from_nanos, span.to_nanos)).collect();
        let (down, blocked) = (SpanKind::Down, SpanKind::Blocked);
        let expected =
            [(blocked, 1000, 2000), (down, 2000, 4000), (down, 5000, 6000), (blocked, 5000, 6000)];
        assert_eq!(found, expected);
    }
}
