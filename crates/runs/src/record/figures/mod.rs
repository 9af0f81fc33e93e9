//! The figures of a load: the one place of their names, titles and units.
//!
//! * `counters`: counts of a second or of a run; a new one is a line of the table;
//! * `latencies`: latencies of a second or of a run; a line each, too;
//! * `gauges`: values at the end of a second; a line each, too;
//! * `node`: gauges from inside the node; a line each, too;
//! * `metrics`: figures of a run that follow from these, by which it is judged;
//! * `field_id`: names and titles from the names of fields.

mod counters;
mod field_id;
mod gauges;
mod latencies;
mod metrics;
mod node;

pub use counters::{Counter, Counters, ExpectedCount, KnownCount, LiveForm, Needs};
pub use gauges::{Gauge, gauges};
pub use latencies::{
    Latency, LatencyFigures, LatencySummary, SecondLatencies, SecondLatency, SpectrumPoint,
};
pub use metrics::{
    ExpectedGauge, ExpectedLatency, ExpectedRate, ExpectedTime, Metric, Quantile, Statistic,
};
pub use node::{NodeFigure, NodeFigures};
