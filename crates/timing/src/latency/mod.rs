//! Latencies: histograms, interval logs, and their breakdown by group and queue.

mod breakdown;
mod churn;
mod histogram;
mod log;
mod slot_histograms;
mod slots;

pub(crate) use rabbitscope_runs::record::Latency;

pub(crate) use breakdown::Breakdown;
pub(crate) use churn::{ChurnHistograms, ChurnLogs};
pub(crate) use histogram::{LatencyHistogram, latency_point};
pub(crate) use log::LatencyLog;
pub use log::LatencyRecord;
pub(crate) use slot_histograms::{SecondHistograms, SlotHistograms};
pub(crate) use slots::{MAX_SLOTS, Slots, publisher_slot};
