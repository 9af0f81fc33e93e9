//! Sends profiles and metrics of nodes to the systems that people already have: Pyroscope, Parca, OTLP, Prometheus
//! remote write, Influx lines; and lets Prometheus scrape the metrics.
//!
//! ```text
//!  recorder ── Window ──────────┐           ┌─► spool ─► sender ─► backend
//!                               ├─► encoder ┤
//!  readings ── MetricsSnapshot ─┘           └─► spool ─► sender ─► backend
//! ```
//!
//! [`Exporters::offer_window`] and [`Exporters::offer_metrics`] never wait. One thread encodes for all exporters, one
//! thread for each exporter sends. The spool of an exporter is its queue: bounded, in memory or in a directory. What
//! does not fit is dropped, the oldest first, and counted by its reason ([`ExporterFigures`]).
//!
//! `encode/` is pure: no clock, network, disk. What does not live here: how a window is recorded and how a
//! node's figures are read.

mod config;
mod encode;
mod error;
mod exporters;
mod metrics;
mod send;
mod spool;
mod window;

pub use config::{
    ConfigProblem, Credentials, ExporterKind, ExporterOptions, ExporterToml, ServerTrust,
    validate_exporters,
};
pub use error::ExportError;
pub use exporters::{ExportOptions, ExporterFigures, Exporters, SpoolOptions};
pub use metrics::{MetricDescription, MetricKind, MetricPoint, MetricsSnapshot, catalog};
pub use send::RetryDelays;
pub use window::{NodeLabels, Window};
