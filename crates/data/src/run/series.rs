//! One second of a run.

use serde::{Deserialize, Serialize};

use super::{ChurnCounts, PollPoint, RequestCounts};

/// A line of `series.jsonl`. Counts are what happened within this second.
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
    /// Messages written to a socket.
    pub published: u64,
    /// Messages that the broker confirmed.
    pub confirmed: u64,
    /// Messages that the broker refused (`basic.nack`).
    pub nacked: u64,
    /// Messages that came back as unroutable.
    pub returned: u64,
    /// Messages delivered to consumers.
    pub consumed: u64,
    /// Of those, marked as redelivered.
    pub redelivered: u64,
    /// Of those, refused by the consumer (`nack`).
    #[serde(default)]
    pub rejected: u64,
    /// Answers to `basic.get` that there is no message.
    #[serde(default)]
    pub empty_polls: u64,
    /// Times that nothing was confirmed for `confirm-timeout`.
    #[serde(default)]
    pub confirm_timeouts: u64,
    /// Of those, delivered before and not marked as redelivered; counted with `run.verify`.
    #[serde(default)]
    pub duplicates: u64,
    /// Of those, overtaken by a later message of their publisher; counted with `run.verify`.
    #[serde(default)]
    pub out_of_order: u64,
    /// Messages that schedules asked for, dropped ones included.
    #[serde(default)]
    pub scheduled: u64,
    /// Of those, sent later than their time by more than the tolerance, or overdue at the end.
    #[serde(default)]
    pub late: u64,
    /// Of the late and the dropped, those that were later than the tolerance by the client's own doing:
    /// window and socket had room for so long.
    #[serde(default)]
    pub late_by_client: u64,
    /// Of the scheduled, those that were never sent: left out as they were late (`late = "skip"`), or
    /// overdue at the end.
    #[serde(default)]
    pub dropped: u64,
    /// Of the dropped, those that were due and not sent when the load ended: in its last second.
    #[serde(default)]
    pub overdue: u64,
    /// Requests and what became of them.
    #[serde(flatten)]
    pub rpc: RequestCounts,
    /// Things that came and went.
    #[serde(flatten)]
    pub churn: ChurnCounts,
    /// Bytes written to sockets.
    pub bytes_written: u64,
    /// Calls that wrote them.
    pub writes: u64,
    /// Bytes read from sockets.
    pub bytes_read: u64,
    /// Calls that read them.
    pub reads: u64,
    /// Time in which a publisher had something to send but its socket took no more, summed over
    /// connections, in nanoseconds.
    pub socket_stall_nanos: u64,
    /// Time for which connections were blocked by an alarm of the broker, in nanoseconds.
    pub blocked_nanos: u64,
    /// Time in which the broker did not serve: all connections of one side were lost, or nothing came
    /// although it owed answers. In nanoseconds; none in a drain.
    #[serde(default)]
    pub without_service_nanos: u64,
    /// Time in which an alarm of the broker blocked at least one connection, in nanoseconds; none in a
    /// drain.
    #[serde(default)]
    pub alarm_nanos: u64,
    /// Time in which publishers had a full confirm window, summed over publishers, in nanoseconds.
    #[serde(default)]
    pub window_full_nanos: u64,
    /// Messages that were sent with confirms over a connection that was then lost, and got no answer.
    #[serde(default)]
    pub unanswered: u64,
    /// Messages that had got no answer at a lost connection and were sent again.
    #[serde(default)]
    pub republished: u64,
    /// Connections that were up at the end of this second.
    #[serde(default)]
    pub connections: u64,
    /// Lost connections that were made again.
    #[serde(default)]
    pub reconnects: u64,
    /// Time for which connections were lost, summed over connections, in nanoseconds.
    #[serde(default)]
    pub down_nanos: u64,
    /// Messages sent and not yet confirmed at the end of this second.
    pub unconfirmed: u64,
    /// Messages ready in the scenario's queues at the end of this second, when there are few queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_messages: Option<u64>,
    /// From write to confirm.
    pub confirm_latency: Option<LatencyPoint>,
    /// From write to delivery.
    pub end_to_end_latency: Option<LatencyPoint>,
    /// From the time that the schedule asked for to confirm.
    #[serde(default)]
    pub confirm_intended_latency: Option<LatencyPoint>,
    /// From the time that the schedule asked for to delivery.
    #[serde(default)]
    pub end_to_end_intended_latency: Option<LatencyPoint>,
    /// From sending a request to its reply.
    #[serde(default)]
    pub round_trip_latency: Option<LatencyPoint>,
    /// From the time that the schedule asked for to the reply.
    #[serde(default)]
    pub round_trip_intended_latency: Option<LatencyPoint>,
    /// What of the time from the schedule to sending was the client's own: nothing else was in the way.
    #[serde(default)]
    pub client_delay: Option<LatencyPoint>,
    /// From asking for a thing that comes and goes to the broker's answer.
    #[serde(default)]
    pub churn_open_latency: Option<LatencyPoint>,
    /// From giving it back to the broker's answer.
    #[serde(default)]
    pub churn_close_latency: Option<LatencyPoint>,
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
