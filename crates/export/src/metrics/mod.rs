//! Metrics: the [`catalog`], and values at one time.

pub mod catalog;
mod snapshot;

pub use snapshot::{MetricDescription, MetricKind, MetricPoint, MetricsSnapshot};
