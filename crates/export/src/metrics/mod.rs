//! Metrics: which there are ([`catalog`]), and their values at one time.

pub mod catalog;
mod snapshot;

pub use snapshot::{MetricDescription, MetricKind, MetricPoint, MetricsSnapshot};
