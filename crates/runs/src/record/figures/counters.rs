//! The counters of a load. Each counter is defined once, in the list at the end of this file. The rows of a run, its
//! totals, the sums, the CSV columns, the Prometheus metrics, the live view and the counts that a scenario can expect
//! follow from it.

use rabbitscope_text::{MetricId, Unit};
use serde::{Deserialize, Serialize};

use super::field_id::field_id;

/// The form of a counter in the live view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveForm {
    /// A rate, once it was above 0.
    Rate,
    /// The count of the second, once it was above 0.
    Count,
    /// A part of the second, once it was above 0.
    Time,
    /// Not shown: the view has room for the most important counters only.
    Hidden,
}

/// A counter: its identity, and its value.
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    /// Name as in `series.jsonl`, `bytes-written`; title for people; unit.
    pub id: MetricId,
    /// Name of the Prometheus metric, without `rabbitscope_`: `written_bytes_total`.
    pub metric: &'static str,
    /// Description in one sentence.
    pub help: &'static str,
    /// Form in the live view.
    pub live: LiveForm,
    /// Reads the value.
    pub value: fn(&Counters) -> u64,
}

/// The part of a scenario without which a figure is never measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Every scenario has it.
    Nothing,
    /// `run.verify`.
    Verify,
    /// Publishers with confirms or transactions.
    Confirms,
    /// Consumers, and publishers that write a time into their messages.
    Deliveries,
    /// Consumers, requests or responders.
    Consuming,
    /// Requests.
    Requests,
    /// Churn.
    Churn,
}

/// The facts about an [`ExpectedCount`].
struct Expectable {
    id: MetricId,
    /// Reads the count; absent if it is known at the end of a run only.
    value: Option<fn(&Counters) -> u64>,
    /// Reads the count of which it can be a share.
    whole: fn(&Counters) -> u64,
    needs: Needs,
}

/// A count that files of older versions lack. There it is unknown, not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KnownCount(Option<u64>);

impl KnownCount {
    /// The count in a file of an older version.
    pub const UNKNOWN: Self = Self(None);

    /// Returns the count; absent in files of older versions.
    pub fn get(self) -> Option<u64> {
        self.0
    }

    fn is_unknown(&self) -> bool {
        self.0.is_none()
    }
}

impl From<u64> for KnownCount {
    fn from(count: u64) -> Self {
        Self(Some(count))
    }
}

impl Default for KnownCount {
    fn default() -> Self {
        Self(Some(0))
    }
}

/// The operations of the list on a count.
trait Count: Copy {
    fn value(self) -> u64;
    fn plus(self, other: Self) -> Self;
}

impl Count for u64 {
    fn value(self) -> u64 {
        self
    }

    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
}

impl Count for KnownCount {
    fn value(self) -> u64 {
        self.0.unwrap_or(0)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0.zip(other.0).map(|(one, other)| one.saturating_add(other)))
    }
}

fn unknown() -> KnownCount {
    KnownCount::UNKNOWN
}

macro_rules! counters {
    (@type) => { u64 };
    (@type $type:ty) => { $type };
    ($($(#[$attribute:meta])* $name:ident $(titled $title:literal)? $(as $type:ty)?: $unit:ident, $live:ident, $metric:literal, $help:literal
       $(, expected as $expected:ident of $whole:ident, needs $needs:ident)?;)*) => {
        /// The counts of a load, within a second or over a run. Counts that an older version did not have are 0.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct Counters {
            $(#[doc = $help] $(#[$attribute])* pub $name: counters!(@type $($type)?),)*
        }

        impl Counters {
            /// Every counter, in the order of all lists.
            pub const ALL: &[Counter] = &[
                $(Counter {
                    id: field_id!($name, $unit $(, $title)?),
                    metric: $metric,
                    help: $help,
                    live: LiveForm::$live,
                    value: |counters| Count::value(counters.$name),
                },)*
            ];

            /// Counts a message that is delivered, processed and settled at once.
            #[inline]
            pub fn consume_at_once(&mut self) {
                self.delivered += 1;
                self.consumed += 1;
                self.settled += 1;
            }

            /// Adds the counts of another thread or second.
            pub fn add(&mut self, other: &Self) {
                $(self.$name = Count::plus(self.$name, other.$name);)*
            }
        }

        /// A count of a run that a scenario can expect.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ExpectedCount {
            /// Messages that the broker accepted but did not deliver.
            Lost,
            /// Messages without a confirm.
            Unconfirmed,
            $($(#[doc = $help] $expected,)?)*
        }

        impl ExpectedCount {
            /// All of them, in the order of all lists.
            pub const ALL: &[Self] = &[Self::Lost, Self::Unconfirmed, $($(Self::$expected,)?)*];

            fn facts(self) -> Expectable {
                match self {
                    Self::Lost => Expectable {
                        id: MetricId { name: "lost", title: "lost", unit: Unit::Things },
                        value: None,
                        whole: Counters::accepted_or_written,
                        needs: Needs::Verify,
                    },
                    Self::Unconfirmed => Expectable {
                        id: MetricId {
                            name: "unconfirmed",
                            title: "unconfirmed",
                            unit: Unit::Things,
                        },
                        value: None,
                        whole: |counters| counters.published,
                        needs: Needs::Confirms,
                    },
                    $($(Self::$expected => Expectable {
                        id: field_id!($name, $unit),
                        value: Some(|counters| Count::value(counters.$name)),
                        whole: |counters| Count::value(counters.$whole),
                        needs: Needs::$needs,
                    },)?)*
                }
            }
        }
    };
}

impl ExpectedCount {
    /// Returns the identity. Its name is that in `[expect]`: `late-by-client`.
    pub fn id(self) -> MetricId {
        self.facts().id
    }

    /// Returns the reader of the count; absent if it is known at the end of a run only.
    pub fn counter(self) -> Option<fn(&Counters) -> u64> {
        self.facts().value
    }

    /// Returns the count of which it can be a share.
    pub fn whole(self, counters: &Counters) -> u64 {
        (self.facts().whole)(counters)
    }

    /// Returns the part of a scenario without which it is never counted.
    pub fn needs(self) -> Needs {
        self.facts().needs
    }
}

impl Counters {
    /// Counts messages that the broker accepted.
    pub fn accept(&mut self, count: u64) {
        self.accepted = self.accepted.plus(count.into());
    }

    /// Takes the accepted messages out, to count them elsewhere.
    pub fn take_accepted(&mut self) -> u64 {
        std::mem::take(&mut self.accepted).value()
    }

    /// Returns the messages that the broker accepted; in files of older versions those that were written to sockets.
    pub fn accepted_or_written(&self) -> u64 {
        self.accepted.get().unwrap_or(self.published)
    }
}

counters! {
    published titled "written": Things, Rate, "published_messages_total", "Messages written to sockets; the broker may not have read them.";
    #[serde(default = "unknown", skip_serializing_if = "KnownCount::is_unknown")]
    accepted as KnownCount: Things, Rate, "accepted_messages_total", "Messages that the broker accepted: confirmed, committed, or, without confirms, before a request on the same channel that the broker has answered.";
    confirmed: Things, Rate, "confirmed_messages_total", "Messages that the broker confirmed.";
    nacked: Things, Count, "nacked_messages_total", "Messages that the broker refused (`basic.nack`).", expected as Nacked of published, needs Confirms;
    returned: Things, Count, "returned_messages_total", "Messages that came back as unroutable.", expected as Returned of published, needs Nothing;
    delivered: Things, Hidden, "delivered_messages_total", "Messages that consumers read from sockets, processed or not.";
    filtered_out: Things, Hidden, "filtered_out_messages_total", "Messages of streams that a reader received and dropped, because their filter value is none of `filter-values`; they do not count as delivered.";
    consumed: Things, Rate, "consumed_messages_total", "Messages that consumers processed; without a processing time or a rate, as they are delivered.";
    settled: Things, Hidden, "settled_messages_total", "Messages that consumers acknowledged or refused; with automatic acknowledgement, that they processed.";
    redelivered: Things, Count, "redelivered_messages_total", "Deliveries marked as redelivered.", expected as Redelivered of consumed, needs Nothing;
    rejected: Things, Hidden, "rejected_messages_total", "Deliveries that the consumer refused (`nack`).";
    empty_polls: Things, Hidden, "empty_polls_total", "Answers to `basic.get` that there is no message.";
    confirm_timeouts: Things, Count, "confirm_timeouts_total", "Times that nothing was confirmed for `confirm-timeout`.";
    published_items: Things, Hidden, "published_items_total", "Items of applications in published messages: one per \
                                                               message, or `items-per-message`.";
    published_item_bytes: Bytes, Hidden, "published_item_bytes_total", "Bytes of these, before compression.";
    consumed_items: Things, Hidden, "consumed_items_total", "Items in the messages that consumers received, unpacked \
                                                             unless `unpack = false`.";
    consumed_item_bytes: Bytes, Hidden, "consumed_item_bytes_total", "Bytes of these, after decompression.";
    unpacking_failures: Things, Count, "unpacking_failures_total", "Messages that a consumer could not unpack; their \
                                                                    items are not counted.";
    duplicates: Things, Count, "duplicate_messages_total", "Repeated deliveries without the redelivered mark; counted \
                                                            with `run.verify`.", expected as Duplicates of consumed, needs Verify;
    out_of_order: Things, Count, "out_of_order_messages_total", "Deliveries overtaken by a later message of their publisher; counted with `run.verify`.", expected as OutOfOrder of consumed, needs Verify;
    scheduled: Things, Hidden, "scheduled_messages_total", "Messages that schedules asked for, dropped ones included.";
    late: Things, Count, "late_messages_total", "Scheduled messages sent late by more than the tolerance, or overdue \
                                                 at the end.", expected as Late of scheduled, needs Nothing;
    late_by_client: Things, Count, "late_by_client_messages_total", "Late or dropped messages delayed beyond the \
                                                                     tolerance by the client itself, while window and \
                                                                     socket had room.", expected as LateByClient of scheduled, needs Nothing;
    dropped: Things, Count, "dropped_messages_total", "Scheduled messages that were never sent: skipped because they \
                                                       were late (`late = \"skip\"`), or overdue at the end.", expected as Dropped of scheduled, needs Nothing;
    overdue: Things, Hidden, "overdue_messages_total", "Dropped messages that were due, by more than the tolerance, and not sent when the load ended: in its last second.";
    requests: Things, Rate, "requests_total", "Requests sent by callers; they count as published, too.";
    replies: Things, Rate, "replies_total", "Replies that came in time; they count as consumed, too.";
    requests_unanswered: Things, Count, "unanswered_requests_total", "Requests whose reply did not come in time, or was lost with a connection; the total of a run also has those that waited for it at the end.", expected as RequestsUnanswered of requests, needs Requests;
    stray_replies: Things, Count, "stray_replies_total", "Unexpected replies: late or repeated.", expected as StrayReplies of replies, needs Requests;
    churn_opened: Things, Rate, "churn_opened_total", "Connections, channels, queues or bindings of churn groups that were opened, as the broker confirmed.";
    churn_closed: Things, Rate, "churn_closed_total", "Connections, channels, queues or bindings of churn groups that were closed, as the broker confirmed.";
    churn_failed: Things, Count, "churn_failed_total", "Openings and closings that the broker refused, or that were lost with their connection.", expected as ChurnFailed of churn_opened, needs Churn;
    bytes_written: Bytes, Hidden, "written_bytes_total", "Bytes written to sockets.";
    writes: Things, Hidden, "writes_total", "Calls that wrote to sockets.";
    bytes_read: Bytes, Hidden, "read_bytes_total", "Bytes read from sockets.";
    reads: Things, Hidden, "reads_total", "Calls that read from sockets.";
    socket_stall_nanos: Nanos, Hidden, "socket_stall_nanoseconds_total", "Time in which a publisher had something to send but its socket took no more, summed over connections.";
    blocked_nanos: Nanos, Hidden, "blocked_nanoseconds_total", "Time for which alarms of the broker blocked connections, summed over connections.";
    without_service_nanos: Nanos, Time, "without_service_nanoseconds_total", "Time in which the broker did not serve: \
                                                                              all connections of one side were lost, \
                                                                              or it sent no due answers; none in a \
                                                                              drain.";
    alarm_nanos: Nanos, Time, "alarm_nanoseconds_total", "Time in which an alarm of the broker blocked at least one connection; none in a drain.";
    window_full_nanos: Nanos, Hidden, "window_full_nanoseconds_total", "Time in which publishers had a full confirm window, summed over publishers.";
    credit_wait_nanos: Nanos, Hidden, "credit_wait_nanoseconds_total", "Time in which publishers had a message to send but no credit of the broker for it, summed over publishers.";
    unanswered: Things, Count, "unanswered_messages_total", "Messages sent with confirms over a connection that was then lost, without an answer.";
    republished: Things, Count, "republished_messages_total", "Unanswered messages that were sent again \
                                                               (`republish-unconfirmed`); they count as published \
                                                               twice, and may become duplicates.";
    reconnects: Things, Count, "reconnects_total", "Lost connections that were restored.";
    token_renewals: Things, Count, "token_renewals_total", "New tokens that the broker took for open connections.";
    down_nanos: Nanos, Hidden, "down_nanoseconds_total", "Time for which connections were lost, summed over connections.";
    client_wait_nanos: Nanos, Hidden, "client_wait_nanoseconds_total", "Time in which load threads were runnable but \
                                                                        had no CPU.";
    client_cpu_nanos: Nanos, Hidden, "client_cpu_nanoseconds_total", "CPU time of load threads.";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Counters that are all 1.
    fn ones() -> Counters {
        let names = serde_json::to_value(Counters::default()).unwrap();
        let ones = names.as_object().unwrap().keys().map(|name| (name.clone(), 1.into()));
        serde_json::from_value(serde_json::Value::Object(ones.collect())).unwrap()
    }

    #[test]
    fn sums_and_lists_forget_none() {
        let mut sum = ones();
        sum.add(&ones());
        assert!(Counters::ALL.iter().all(|counter| (counter.value)(&sum) == 2));
        let names: BTreeSet<_> =
            Counters::ALL.iter().map(|counter| counter.id.name.to_owned()).collect();
        let keys = serde_json::to_value(sum).unwrap();
        assert_eq!(names, keys.as_object().unwrap().keys().cloned().collect());
    }

    /// A file of an older version says nothing about acceptance, nor does a sum that includes it.
    #[test]
    fn what_older_versions_did_not_count_is_unknown() {
        let old: Counters = serde_json::from_str(r#"{ "published": 7 }"#).unwrap();
        assert_eq!((old.accepted.get(), old.accepted_or_written()), (None, 7));
        let mut sum = Counters::default();
        sum.accept(3);
        assert_eq!((sum.accepted.get(), sum.accepted_or_written()), (Some(3), 3));
        sum.add(&old);
        assert_eq!(sum.accepted.get(), None);
        let written = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<Counters>(&written).unwrap(), sum);
    }

    /// A count that can be expected has the name of its counter, and a reader of that counter.
    #[test]
    fn expected_counts_are_counters() {
        let [lost, unconfirmed, counters @ ..] = ExpectedCount::ALL else { panic!("too few") };
        assert_eq!([lost.id().name, unconfirmed.id().name], ["lost", "unconfirmed"]);
        for count in counters {
            let counts = serde_json::json!({ count.id().name: 7 });
            let counts: Counters = serde_json::from_value(counts).unwrap();
            assert_eq!(count.counter().map(|counter| counter(&counts)), Some(7), "{count:?}");
        }
        let MetricId { name, title, unit } = ExpectedCount::LateByClient.id();
        assert_eq!((name, title, unit), ("late-by-client", "late by client", Unit::Things));
    }

    #[test]
    fn names_are_distinct_and_units_show_in_them() {
        let metrics: BTreeSet<_> = Counters::ALL.iter().map(|counter| counter.metric).collect();
        assert_eq!(metrics.len(), Counters::ALL.len());
        for Counter { id, metric, .. } in Counters::ALL {
            assert_eq!(id.name.ends_with("-nanos"), id.unit == Unit::Nanos, "{id:?}");
            assert!(!id.title.contains("nanos"), "{id:?}");
            assert_eq!(metric.contains("_nanoseconds_"), id.unit == Unit::Nanos, "{metric}");
            assert_eq!(metric.contains("_bytes_"), id.unit == Unit::Bytes, "{metric}");
        }
    }
}
