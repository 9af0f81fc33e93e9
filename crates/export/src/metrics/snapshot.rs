//! Values of metrics at one time.

use std::sync::Arc;

use crate::NodeLabels;

/// Limit of values in a snapshot. Three nodes have about 300.
const MAX_POINTS: usize = 10_000;

/// Behaviour of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A value that only grows, until its source restarts.
    Counter,
    /// A value that goes up and down.
    Gauge,
}

impl MetricKind {
    /// Returns Prometheus' name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

/// A metric. All of them are in the [`catalog`](super::catalog).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDescription {
    /// Name without `rabbitscope_`, with the unit, and with `_total` if it is a counter.
    pub name: &'static str,
    /// Behaviour of the value.
    pub kind: MetricKind,
    /// Unit, such as `bytes`; empty for a count.
    pub unit: &'static str,
    /// Description, one sentence.
    pub help: &'static str,
}

/// A value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricPoint {
    /// The metric.
    pub metric: &'static MetricDescription,
    /// The node; `None` for a metric of rabbitscope itself.
    pub node: Option<Arc<NodeLabels>>,
    /// Labels besides the node's, such as `queue`.
    pub labels: Vec<(&'static str, Arc<str>)>,
    /// Value, in the unit of the metric.
    pub value: f64,
}

impl MetricPoint {
    /// Returns the non-empty labels of the node and of the value.
    pub(crate) fn own_labels(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let node = self.node.iter().flat_map(|node| node.pairs());
        let own = self.labels.iter().map(|(name, value)| (*name, &**value));
        node.chain(own).filter(|(_, value)| !value.is_empty())
    }

    /// Returns all labels, including those that Prometheus adds to a scrape, sorted by name.
    pub(crate) fn all_labels(&self, instance: &str) -> Vec<(&'static str, String)> {
        let added = [("instance", instance), ("job", "rabbitscope")];
        let labels = self.own_labels().chain(added).filter(|(_, value)| !value.is_empty());
        let mut labels: Vec<_> = labels.map(|(name, value)| (name, value.to_owned())).collect();
        labels.sort_unstable();
        labels
    }
}

/// The values of all metrics at one time. Bounded: further values are dropped and counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsSnapshot {
    /// Time, in milliseconds since 1970-01-01.
    pub unix_millis: u64,
    points: Vec<MetricPoint>,
    dropped: u64,
}

impl MetricsSnapshot {
    /// Creates an empty snapshot. Each snapshot must be later than the one before.
    pub fn new(unix_millis: u64) -> Self {
        Self { unix_millis, points: Vec::new(), dropped: 0 }
    }

    /// Adds a value.
    pub fn add(
        &mut self,
        metric: &'static MetricDescription,
        node: Option<&Arc<NodeLabels>>,
        labels: Vec<(&'static str, Arc<str>)>,
        value: f64,
    ) {
        if self.points.len() == MAX_POINTS {
            self.dropped += 1;
            return;
        }
        self.points.push(MetricPoint { metric, node: node.cloned(), labels, value });
    }

    /// Adds a value of rabbitscope itself beyond the limit: the number of dropped values.
    pub(crate) fn add_last(&mut self, metric: &'static MetricDescription, value: f64) {
        self.points.push(MetricPoint { metric, node: None, labels: Vec::new(), value });
    }

    /// Returns the values in the order of their addition.
    pub fn points(&self) -> &[MetricPoint] {
        &self.points
    }

    /// Returns the number of dropped values.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_said() {
        static METRIC: MetricDescription =
            MetricDescription { name: "a", kind: MetricKind::Gauge, unit: "", help: "" };
        let mut snapshot = MetricsSnapshot::new(0);
        for _ in 0..MAX_POINTS + 2 {
            snapshot.add(&METRIC, None, Vec::new(), 7.0);
        }
        let dropped = snapshot.dropped();
        snapshot.add_last(&METRIC, dropped as f64);
        let last = snapshot.points().last().map(|point| point.value);
        assert_eq!((dropped, last, snapshot.points().len()), (2, Some(2.0), MAX_POINTS + 1));
    }
}
