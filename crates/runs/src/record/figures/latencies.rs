//! Latencies of a run and of its seconds. Each latency is defined once, in the list at the end of this file. The
//! histograms of a load, the rows of a run, the CSV columns and the live view follow from it.

use rabbitscope_text::{MetricId, Percentiles, Unit};
use serde::{Deserialize, Serialize};

use super::field_id::field_id;

/// A latency of [`SecondLatencies`]: its identity, and its value.
#[derive(Clone, Copy, Debug)]
pub struct SecondLatency {
    /// Name as in `series.jsonl`, `end-to-end-latency`; title for people, `end-to-end latency`; unit.
    pub id: MetricId,
    /// Reads the value.
    pub value: fn(&SecondLatencies) -> Option<Percentiles>,
}

macro_rules! latencies {
    (run { $($variant:ident $name:literal: $row:ident, $title:literal, $help:literal, $description:literal;)* }
     rows only { $($only:ident, $only_title:literal, $only_help:literal;)* }) => {
        /// A latency that a load measures. `…Intended` starts at the scheduled time. `ClientDelay` lasts from the
        /// scheduled time to the send time. The others start at the send time.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Latency {
            $(#[doc = $description] $variant,)*
        }

        impl Latency {
            /// All latencies, in the order of all lists.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name as in `run.json`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Describes start and end.
            pub fn description(self) -> &'static str {
                match self {
                    $(Self::$variant => $description,)*
                }
            }
        }

        /// Latencies within one second; absent if none was measured.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct SecondLatencies {
            $(#[doc = $help] pub $row: Option<Percentiles>,)*
            $(#[doc = $only_help] pub $only: Option<Percentiles>,)*
        }

        impl SecondLatencies {
            /// Every latency, in the order of all lists.
            pub const ALL: &[SecondLatency] = &[
                $(SecondLatency {
                    id: field_id!($row, Nanos, $title),
                    value: |latencies| latencies.$row,
                },)*
                $(SecondLatency {
                    id: field_id!($only, Nanos, $only_title),
                    value: |latencies| latencies.$only,
                },)*
            ];

            /// Returns a latency of a load.
            pub const fn of(latency: Latency) -> SecondLatency {
                Self::ALL[latency as usize]
            }

            /// Takes the percentiles of each latency, without those of churn.
            pub fn from_fn(percentiles: impl Fn(Latency) -> Option<Percentiles>) -> Self {
                Self { $($row: percentiles(Latency::$variant),)* ..Self::default() }
            }
        }
    };
}

/// A latency in nanoseconds, without its histogram.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencyFigures {
    /// `confirm`, `end-to-end` (until delivered), `processed` or `settled`, from the actual time of sending. With the
    /// suffix `-intended`, from the time that the schedule asked for. `client-delay`: the client's own part of the time
    /// from the schedule to the sending.
    pub name: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Its percentiles, in the record beside the other keys.
    #[serde(flatten)]
    pub percentiles: Percentiles,
}

/// A latency over the whole run, from the lossless histogram in `file`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LatencySummary {
    /// Its figures, in the record beside the other keys.
    #[serde(flatten)]
    pub figures: LatencyFigures,
    /// Start and end of the latency, in words.
    pub description: String,
    /// Number of measurements that belong to messages overdue at the end. They count with their age at the end,
    /// although they took longer.
    #[serde(default, skip_serializing_if = "is_none")]
    pub overdue: u64,
    /// Percentiles for a drawing, as far into the tail as the number of measurements supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spectrum: Vec<SpectrumPoint>,
    /// The `.hlog` file in the run directory.
    pub file: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// One percentile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SpectrumPoint {
    /// Share of the measurements that are not above `nanos`, 0 to 1.
    pub quantile: f64,
    /// The latency in nanoseconds.
    pub nanos: u64,
}

latencies! {
    run {
        Confirm "confirm": confirm_latency, "confirm latency", "From write to confirm.",
            "from handing a message to the socket to reading its confirm";
        ConfirmIntended "confirm-intended": confirm_intended_latency, "  from schedule", "From the time that the schedule asked for to confirm.",
            "from the time on the schedule to reading the confirm";
        EndToEnd "end-to-end": end_to_end_latency, "end-to-end latency", "From write to delivery.",
            "from handing a message to the socket to reading its delivery";
        EndToEndIntended "end-to-end-intended": end_to_end_intended_latency, "  from schedule", "From the time that the schedule asked for to delivery.",
            "from the time on the schedule to reading the delivery";
        Processed "processed": processed_latency, "until processed", "From write to the start of processing; absent where consumers start on a message as they read it.",
            "from handing a message to the socket to the start of its processing";
        ProcessedIntended "processed-intended": processed_intended_latency, "  from schedule", "From the time that the schedule asked for to the start of processing.",
            "from the time on the schedule to the start of processing";
        Settled "settled": settled_latency, "until settled", "From write to the acknowledgement or refusal; absent where that is when processing starts.",
            "from handing a message to the socket to writing its acknowledgement";
        SettledIntended "settled-intended": settled_intended_latency, "  from schedule", "From the time that the schedule asked for to the acknowledgement or refusal.",
            "from the time on the schedule to writing the acknowledgement";
        RoundTrip "round-trip": round_trip_latency, "round trip", "From sending a request to its reply.",
            "from handing a request to the socket to reading its reply";
        RoundTripIntended "round-trip-intended": round_trip_intended_latency, "  from schedule", "From the time that the schedule asked for to the reply.",
            "from the time on the schedule to reading the reply";
        ClientDelay "client-delay": client_delay, "client delay", "The client's own part of the time from the schedule to sending.",
            "the client's own part of the time from the schedule to handing a message to the socket";
    }
    rows only {
        churn_open_latency, "churn: open", "From an opening request to the broker's answer.";
        churn_close_latency, "churn: close", "From a closing request to the broker's answer.";
    }
}
