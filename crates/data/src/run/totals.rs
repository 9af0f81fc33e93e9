//! Counts over a whole run.

use serde::{Deserialize, Serialize};

use super::{ChurnCounts, RequestCounts, SecondRow};

/// Totals of the load; see [`super::SecondRow`] for what each counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LoadTotals {
    /// Messages written.
    pub published: u64,
    /// Messages confirmed.
    pub confirmed: u64,
    /// Messages refused.
    pub nacked: u64,
    /// Messages returned as unroutable.
    pub returned: u64,
    /// Messages delivered.
    pub consumed: u64,
    /// Of those, redelivered.
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
    /// Accepted by the broker, but not delivered before the end of the drain; counted with
    /// `run.verify`.
    #[serde(default)]
    pub lost: u64,
    /// Messages that schedules asked for, dropped ones included.
    #[serde(default)]
    pub scheduled: u64,
    /// Of those, sent later than their time by more than the tolerance, or overdue at the end.
    #[serde(default)]
    pub late: u64,
    /// Of the late and the dropped, those that were later than the tolerance by the client's own doing.
    #[serde(default)]
    pub late_by_client: u64,
    /// Of the scheduled, those that were never sent: left out as they were late (`late = "skip"`), or
    /// overdue at the end.
    #[serde(default)]
    pub dropped: u64,
    /// Of the dropped, those that were due, by more than the tolerance, and not sent when the load ended.
    #[serde(default)]
    pub overdue: u64,
    /// Requests and what became of them.
    #[serde(flatten)]
    pub rpc: RequestCounts,
    /// Things that came and went.
    #[serde(flatten)]
    pub churn: ChurnCounts,
    /// Messages for which no confirm came before the end.
    pub unconfirmed: u64,
    /// Messages sent with confirms over a connection that was then lost, without an answer.
    #[serde(default)]
    pub unanswered: u64,
    /// Of the unanswered, those that were sent again (`republish-unconfirmed`), and count as published
    /// twice: consumers may get as many duplicates.
    #[serde(default)]
    pub republished: u64,
    /// Lost connections that were made again.
    #[serde(default)]
    pub reconnects: u64,
    /// Time for which connections were lost, sum over connections, nanoseconds.
    #[serde(default)]
    pub down_nanos: u64,
    /// Bytes written to sockets.
    pub bytes_written: u64,
    /// Calls that wrote.
    pub writes: u64,
    /// Bytes read from sockets.
    pub bytes_read: u64,
    /// Calls that read.
    pub reads: u64,
    /// Sum over connections, nanoseconds.
    pub socket_stall_nanos: u64,
    /// Sum over connections, nanoseconds.
    pub blocked_nanos: u64,
    /// Time of the load in which the broker did not serve ([`super::SpanKind::Down`] and
    /// [`super::SpanKind::Silent`]), nanoseconds.
    #[serde(default)]
    pub without_service_nanos: u64,
    /// Time of the load in which an alarm blocked at least one connection, nanoseconds.
    #[serde(default)]
    pub alarm_nanos: u64,
    /// Time in which publishers had a full confirm window, summed over publishers, nanoseconds.
    #[serde(default)]
    pub window_full_nanos: u64,
    /// Time in which load threads could have run but had no CPU, nanoseconds.
    #[serde(default)]
    pub client_wait_nanos: u64,
    /// CPU time of rabbitscope's load threads, nanoseconds.
    pub client_cpu_nanos: u64,
}

/// The part of a run that rates and latencies are about: after the warm-up, until the publishers
/// stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Measured {
    /// From the start of the load until this part began, nanoseconds.
    pub warm_up_nanos: u64,
    /// Its length in nanoseconds. 0: the run ended before it began.
    pub duration_nanos: u64,
    /// What was counted in it.
    pub load: LoadTotals,
}

impl LoadTotals {
    /// What the seconds of a run add up to, for a run whose end nobody counted.
    pub fn of_seconds(rows: &[SecondRow]) -> Self {
        let sum =
            |count: fn(&SecondRow) -> u64| rows.iter().map(count).fold(0, u64::saturating_add);
        let mut totals = Self {
            published: sum(|row| row.published),
            confirmed: sum(|row| row.confirmed),
            nacked: sum(|row| row.nacked),
            returned: sum(|row| row.returned),
            consumed: sum(|row| row.consumed),
            redelivered: sum(|row| row.redelivered),
            rejected: sum(|row| row.rejected),
            empty_polls: sum(|row| row.empty_polls),
            confirm_timeouts: sum(|row| row.confirm_timeouts),
            duplicates: sum(|row| row.duplicates),
            out_of_order: sum(|row| row.out_of_order),
            scheduled: sum(|row| row.scheduled),
            late: sum(|row| row.late),
            late_by_client: sum(|row| row.late_by_client),
            dropped: sum(|row| row.dropped),
            overdue: sum(|row| row.overdue),
            without_service_nanos: sum(|row| row.without_service_nanos),
            alarm_nanos: sum(|row| row.alarm_nanos),
            unconfirmed: rows.last().map_or(0, |row| row.unconfirmed),
            unanswered: sum(|row| row.unanswered),
            republished: sum(|row| row.republished),
            reconnects: sum(|row| row.reconnects),
            down_nanos: sum(|row| row.down_nanos),
            bytes_written: sum(|row| row.bytes_written),
            writes: sum(|row| row.writes),
            bytes_read: sum(|row| row.bytes_read),
            reads: sum(|row| row.reads),
            socket_stall_nanos: sum(|row| row.socket_stall_nanos),
            blocked_nanos: sum(|row| row.blocked_nanos),
            window_full_nanos: sum(|row| row.window_full_nanos),
            ..Self::default()
        };
        for row in rows {
            totals.rpc.add(&row.rpc);
            totals.churn.add(&row.churn);
        }
        totals
    }
}
