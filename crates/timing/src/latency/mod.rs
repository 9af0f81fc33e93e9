//! Latencies: histograms, interval logs, and the slots of groups and queues.

mod churn;
mod histogram;
mod log;
mod slot_histograms;
mod slots;

pub use churn::{ChurnHistograms, ChurnLogs};
pub use histogram::{LatencyHistogram, latency_figures, latency_point};
pub use log::{LatencyLog, LatencyRecord};
pub use slot_histograms::{HistogramSet, SecondHistograms, SlotHistograms, add_slots, merge};
pub use slots::{MAX_GROUPS, MAX_SLOTS, Slots, group_slot, publisher_slot};
