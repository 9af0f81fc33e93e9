//! The load: its topology, rates, latencies, logins, and counts of messages.

mod breakdown;
mod churn;
mod consumers;
mod counts;
mod latency_ends;
mod logins;
mod pollers;
mod rates;
mod requests;
mod routing;
mod sharing;
mod stalls;
mod stream_offsets;
mod until_empty;
