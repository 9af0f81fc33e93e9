//! Values at the end of a second, or means over it, that are no counts. Each is defined once, in the list at the end of
//! this file, or in `node` if it comes from inside the node. The CSV columns, the Prometheus metrics, the live view,
//! charts, `[expect]` and the metrics of experiments follow from it.

use rabbitscope_text::{
    MetricId,
    Unit::{self, Bytes, Cores, Things},
};

use super::node::{NodeFigure, NodeFigures};
use crate::record::SecondRow;

/// A value of a second that is no count.
#[derive(Clone, Copy, Debug)]
pub struct Gauge {
    /// Name, title and unit.
    pub id: MetricId,
    /// Name of the CSV column: the key of `series.jsonl` with `_` for `-`.
    pub column: &'static str,
    /// Name of the Prometheus metric, without `rabbitscope_`; empty if there is none.
    pub metric: &'static str,
    /// Description in one sentence.
    pub help: &'static str,
    /// Title of the chart that draws it among others; empty if none does, or one of its own.
    pub chart: &'static str,
    /// The live view shows it, once it was above 0.
    pub is_live: bool,
    reading: Reading,
}

#[derive(Clone, Copy, Debug)]
enum Reading {
    OfRow(fn(&SecondRow) -> Option<f64>),
    OfNode(fn(&NodeFigures) -> Option<u64>),
}

impl Gauge {
    /// Returns the value; absent if it is unknown.
    pub fn value(&self, row: &SecondRow) -> Option<f64> {
        match self.reading {
            Reading::OfRow(read) => read(row),
            Reading::OfNode(read) => read(row.node.as_ref()?).map(|number| number as f64),
        }
    }

    const fn of_node(figure: &NodeFigure) -> Self {
        let NodeFigure { id, column, metric, help, chart, value } = *figure;
        Self { id, column, metric, help, chart, is_live: false, reading: Reading::OfNode(value) }
    }
}

/// Yields all gauges, in the order of lists. The last are those from inside the node.
pub fn gauges() -> impl Iterator<Item = Gauge> {
    GAUGES.iter().copied().chain(NodeFigures::ALL.iter().map(Gauge::of_node))
}

const fn gauge(
    (name, unit, title): (&'static str, Unit, &'static str),
    (column, metric): (&'static str, &'static str),
    (help, chart, is_live): (&'static str, &'static str, bool),
    value: fn(&SecondRow) -> Option<f64>,
) -> Gauge {
    let (id, reading) = (MetricId { name, title, unit }, Reading::OfRow(value));
    Gauge { id, column, metric, help, chart, is_live, reading }
}

const WAITING: &str = "Waiting: messages";

/// Gauges from outside the node.
#[rustfmt::skip]
const GAUGES: &[Gauge] = &[
    gauge(("unconfirmed", Things, "confirms in flight"), ("unconfirmed", "unconfirmed_messages"), ("Sent and not yet confirmed at the end of the last second.", WAITING, true), |row| Some(row.unconfirmed as f64)),
    gauge(("connections", Things, "connections"), ("connections", ""), ("Connections that were up.", "", false), |row| Some(row.connections as f64)),
    gauge(("queue-messages", Things, "messages in queues"), ("queue_messages", "queue_messages"), ("Messages ready in the scenario's queues.", WAITING, true), |row| row.queue_messages.map(|count| count as f64)),
    gauge(("broker.cpu", Cores, "broker CPU"), ("broker_cpu_cores", "broker_cpu_cores"), ("CPU of the broker.", "", true), |row| row.broker_cpu_cores),
    gauge(("broker.memory", Bytes, "broker memory"), ("broker_rss_bytes", "broker_resident_bytes"), ("Memory of the broker.", "", true), |row| row.broker_rss_bytes.map(|bytes| bytes as f64)),
    gauge(("client.cpu", Cores, "client CPU"), ("client_cpu_cores", "client_cpu_cores"), ("CPU of the load threads.", "", true), |row| row.client_cpu_cores),
];
