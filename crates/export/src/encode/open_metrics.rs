//! The text format of `OpenMetrics` 1.0:
//! <https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md>.
//!
//! `rabbitscope_text::metrics` writes the older Prometheus format, in which a counter's family keeps `_total`. Here
//! the family has no `_total`, and units and the end of the text have lines of their own.

use std::fmt::{self, Write};

use crate::{MetricKind, MetricPoint, MetricsSnapshot, catalog};

/// Media type of `OpenMetrics`.
pub(crate) const OPEN_METRICS_TYPE: &str =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Encodes all values of a snapshot, family by family. Prometheus adds its own timestamp, `job` and `instance`.
pub(crate) fn open_metrics(snapshot: &MetricsSnapshot) -> String {
    let mut text = String::new();
    for metric in catalog::ALL {
        let of_metric = |point: &&MetricPoint| std::ptr::eq(point.metric, *metric);
        let points: Vec<&MetricPoint> = snapshot.points().iter().filter(of_metric).collect();
        if !points.is_empty() {
            write_family(&mut text, &points).expect("a string takes everything");
        }
    }
    text.push_str("# EOF\n");
    text
}

fn write_family(text: &mut String, points: &[&MetricPoint]) -> fmt::Result {
    let metric = points[0].metric;
    let family = match metric.kind {
        MetricKind::Counter => metric.name.trim_end_matches("_total"),
        MetricKind::Gauge => metric.name,
    };
    writeln!(text, "# TYPE rabbitscope_{family} {}", metric.kind.name())?;
    if !metric.unit.is_empty() {
        writeln!(text, "# UNIT rabbitscope_{family} {}", metric.unit)?;
    }
    writeln!(text, "# HELP rabbitscope_{family} {}", escaped(metric.help))?;
    for point in points {
        write!(text, "rabbitscope_{}", metric.name)?;
        for (index, (name, value)) in point.own_labels().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            write!(text, "{before}{name}=\"{}\"", escaped(value))?;
        }
        let after = if point.own_labels().next().is_some() { "}" } else { "" };
        writeln!(text, "{after} {}", point.value)?;
    }
    Ok(())
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn families_are_whole() {
        let mut snapshot = MetricsSnapshot::new(5);
        let kind = |kind: &str| vec![("kind", Arc::from(kind))];
        snapshot.add(&catalog::NODE_MEMORY, None, kind("ets"), 1.0);
        snapshot.add(&catalog::NODE_PUBLISHED, None, vec![], 3.0);
        snapshot.add(&catalog::NODE_MEMORY, None, kind("a\"b\\c\nd"), 2.5);
        let published = catalog::NODE_PUBLISHED.help;
        let memory = catalog::NODE_MEMORY.help;
        assert_eq!(
            open_metrics(&snapshot),
            format!(
                "# TYPE rabbitscope_node_messages_published counter\n\
                 # HELP rabbitscope_node_messages_published {published}\n\
                 rabbitscope_node_messages_published_total 3\n\
                 # TYPE rabbitscope_node_memory_bytes gauge\n\
                 # UNIT rabbitscope_node_memory_bytes bytes\n\
                 # HELP rabbitscope_node_memory_bytes {memory}\n\
                 rabbitscope_node_memory_bytes{{kind=\"ets\"}} 1\n\
                 rabbitscope_node_memory_bytes{{kind=\"a\\\"b\\\\c\\nd\"}} 2.5\n\
                 # EOF\n"
            )
        );
    }
}
