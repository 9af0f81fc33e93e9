//! Prometheus remote write 1.0: protobuf in a snappy block.
//!
//! Specification: <https://prometheus.io/docs/specs/prw/remote_write_spec/>; messages: `prompb/remote.proto` and
//! `prompb/types.proto` of <https://github.com/prometheus/prometheus>.

use prost::Message;

use crate::{MetricKind, MetricsSnapshot, catalog};

#[derive(Clone, PartialEq, Message)]
pub(super) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    metadata: Vec<MetricMetadata>,
}

#[derive(Clone, PartialEq, Message)]
struct TimeSeries {
    /// Labels, sorted by name.
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    /// Milliseconds since 1970-01-01.
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

#[derive(Clone, PartialEq, Message)]
struct MetricMetadata {
    /// Type: 1 counter, 2 gauge.
    #[prost(int32, tag = "1")]
    r#type: i32,
    #[prost(string, tag = "2")]
    metric_family_name: String,
    #[prost(string, tag = "4")]
    help: String,
    #[prost(string, tag = "5")]
    unit: String,
}

/// Encodes a request's body, compressed.
pub(crate) fn remote_write_request(snapshot: &MetricsSnapshot, instance: &str) -> Vec<u8> {
    let bytes = request(snapshot, instance).encode_to_vec();
    snap::raw::Encoder::new().compress_vec(&bytes).expect("a request is far below 4 GiB")
}

fn request(snapshot: &MetricsSnapshot, instance: &str) -> WriteRequest {
    let timestamp = i64::try_from(snapshot.unix_millis).unwrap_or(i64::MAX);
    let series = snapshot.points().iter().map(|point| {
        let name = format!("rabbitscope_{}", point.metric.name);
        let mut labels = vec![Label { name: "__name__".to_owned(), value: name }];
        let others = point.all_labels(instance).into_iter();
        labels.extend(others.map(|(name, value)| Label { name: name.to_owned(), value }));
        TimeSeries { labels, samples: vec![Sample { value: point.value, timestamp }] }
    });
    WriteRequest { timeseries: series.collect(), metadata: metadata(snapshot) }
}

fn metadata(snapshot: &MetricsSnapshot) -> Vec<MetricMetadata> {
    let is_there = |name| snapshot.points().iter().any(|point| point.metric.name == name);
    let there = catalog::ALL.iter().filter(|metric| is_there(metric.name));
    there
        .map(|metric| MetricMetadata {
            r#type: if metric.kind == MetricKind::Counter { 1 } else { 2 },
            metric_family_name: format!("rabbitscope_{}", metric.name),
            help: metric.help.to_owned(),
            unit: metric.unit.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::NodeLabels;

    #[test]
    fn labels_are_sorted_and_whole() {
        let labels =
            NodeLabels { node: "a@b".to_owned(), service: "s".to_owned(), ..NodeLabels::default() };
        let mut snapshot = MetricsSnapshot::new(1234);
        let queue = vec![("queue", Arc::from("q")), ("vhost", Arc::from("/"))];
        snapshot.add(&catalog::NODE_QUEUE_MESSAGES, Some(&Arc::new(labels)), queue, 7.0);
        let body = remote_write_request(&snapshot, "host");
        let bytes = snap::raw::Decoder::new().decompress_vec(&body).unwrap();
        let request = WriteRequest::decode(bytes.as_slice()).unwrap();
        let labels: Vec<(&str, &str)> = request.timeseries[0]
            .labels
            .iter()
            .map(|label| (label.name.as_str(), label.value.as_str()))
            .collect();
        let expected = [
            ("__name__", "rabbitscope_node_queue_messages"),
            ("instance", "host"),
            ("job", "rabbitscope"),
            ("node", "a@b"),
            ("queue", "q"),
            ("service", "s"),
            ("vhost", "/"),
        ];
        assert_eq!(labels, expected);
        assert_eq!(request.timeseries[0].samples, [Sample { value: 7.0, timestamp: 1234 }]);
        assert_eq!(request.metadata.len(), 1);
    }
}
