//! Sends profiles and metrics of nodes to existing systems: Pyroscope, Parca, OTLP, Prometheus remote write and the
//! Influx line protocol. Prometheus can also scrape the metrics.
//!
//! ```text
//!  recorder ── Window ──────────┐           ┌─► spool ─► sender ─► backend
//!                               ├─► encoder ┤
//!  readings ── MetricsSnapshot ─┘           └─► spool ─► sender ─► backend
//! ```
//!
//! [`Exporters::offer_window`] and [`Exporters::offer_metrics`] never wait. One thread encodes for all exporters, and
//! each exporter has a thread that sends. The spool of an exporter is its queue: bounded, in memory or in a
//! directory. On overflow the oldest requests are dropped, and counted by reason ([`ExporterFigures`]).
//!
//! `encode/` is pure: no clock, network, disk. The recording of windows and the reading of a node's figures are
//! elsewhere.

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
