//! Latencies of one second.

use rabbitscope_text::Percentiles;
use serde::{Deserialize, Serialize};

/// A latency of [`SecondLatencies`]: its names, and its value.
#[derive(Clone, Copy, Debug)]
pub struct SecondLatency {
    /// Name as in `series.jsonl`, but with `_` for `-`: `end_to_end_latency`.
    pub name: &'static str,
    /// Title for people: `end-to-end latency`.
    pub title: &'static str,
    /// Reads the value.
    pub value: fn(&SecondLatencies) -> Option<Percentiles>,
}

macro_rules! latencies {
    ($($name:ident, $title:literal, $help:literal;)*) => {
        /// Latencies within one second; absent if none was measured.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct SecondLatencies {
            $(#[doc = $help] pub $name: Option<Percentiles>,)*
        }

        impl SecondLatencies {
            /// Every latency, in the order of all lists.
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
    processed_latency, "until processed", "From write to the start of processing; absent where consumers start on a message as they read it.";
    processed_intended_latency, "  from schedule", "From the time that the schedule asked for to the start of processing.";
    settled_latency, "until settled", "From write to the acknowledgement or refusal; absent where that is when processing starts.";
    settled_intended_latency, "  from schedule", "From the time that the schedule asked for to the acknowledgement or refusal.";
    round_trip_latency, "round trip", "From sending a request to its reply.";
    round_trip_intended_latency, "  from schedule", "From the time that the schedule asked for to the reply.";
    client_delay, "client delay", "The client's own part of the time from the schedule to sending.";
    churn_open_latency, "churn: open", "From an opening request to the broker's answer.";
    churn_close_latency, "churn: close", "From a closing request to the broker's answer.";
}
