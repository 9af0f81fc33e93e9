//! Metrics of one node: the kernel's figures of its process, and the node's own figures if it may be asked.

use std::sync::Arc;

use rabbitscope_export::{MetricDescription, MetricsSnapshot, NodeLabels, catalog};
use rabbitscope_inside::{MessageCounters, NodeFigures, QueueTotals};
use rabbitscope_machine::ProcessUsage;

use super::ThreadCpu;

/// Label of all queues without a name of their own.
const OTHER: &str = "other";

/// Alarms that every node can raise, in the order of the series.
const ALARMS: [&str; 2] = ["memory", "disk"];

/// The answer of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    /// The node is not asked, or was not reached yet.
    NotAsked,
    /// The node does not answer.
    Missing,
    /// The figures of the node.
    Figures(&'a NodeFigures),
}

/// Metrics of one node.
struct NodeMetrics<'a> {
    snapshot: &'a mut MetricsSnapshot,
    node: &'a Arc<NodeLabels>,
}

/// Adds the metrics of the node with this pid.
pub(crate) fn write_node(
    snapshot: &mut MetricsSnapshot,
    node: &Arc<NodeLabels>,
    pid: u32,
    answer: Answer<'_>,
    cpu: &mut ThreadCpu,
) {
    let mut metrics = NodeMetrics { snapshot, node };
    let is_up = !matches!(answer, Answer::Missing);
    metrics.add(&catalog::NODE_UP, f64::from(u8::from(is_up)));
    metrics.process(pid, cpu);
    if let Answer::Figures(figures) = answer {
        metrics.figures(figures);
    }
}

impl NodeMetrics<'_> {
    fn add(&mut self, metric: &'static MetricDescription, value: f64) {
        self.snapshot.add(metric, Some(self.node), Vec::new(), value);
    }

    fn add_known(&mut self, metric: &'static MetricDescription, value: Option<u64>) {
        if let Some(value) = value {
            self.add(metric, value as f64);
        }
    }

    fn add_labelled(
        &mut self,
        metric: &'static MetricDescription,
        labels: &[(&'static str, &str)],
        value: f64,
    ) {
        let labels = labels.iter().map(|(name, value)| (*name, Arc::from(*value))).collect();
        self.snapshot.add(metric, Some(self.node), labels, value);
    }

    fn process(&mut self, pid: u32, cpu: &mut ThreadCpu) {
        let Some(usage) = ProcessUsage::from_pid(pid) else { return };
        self.add(&catalog::NODE_RESIDENT, usage.rss_bytes as f64);
        for (kind, cpu) in cpu.by_kind(pid, usage.cpu, ProcessUsage::of_threads(pid)) {
            self.add_labelled(&catalog::NODE_THREAD_CPU, &[("kind", kind)], cpu.as_secs_f64());
        }
    }

    fn figures(&mut self, figures: &NodeFigures) {
        if let Some(messages) = &figures.messages {
            self.messages(messages);
        }
        if let Some(queues) = &figures.queues {
            self.queues(queues);
        }
        for (kind, bytes) in &figures.memory_bytes {
            self.add_labelled(&catalog::NODE_MEMORY, &[("kind", kind)], *bytes as f64);
        }
        for (metric, value) in [
            (&catalog::NODE_CONNECTIONS, figures.connections),
            (&catalog::NODE_CHANNELS, figures.channels),
            (&catalog::NODE_CONSUMERS, figures.consumers),
            (&catalog::NODE_FLOW, figures.in_flow),
            (&catalog::NODE_MEMORY_LIMIT, figures.memory_limit_bytes),
            (&catalog::NODE_DISK_FREE, figures.disk_free_bytes),
            (&catalog::NODE_PROCESSES, figures.processes),
            (&catalog::NODE_RUN_QUEUE, figures.run_queue),
        ] {
            self.add_known(metric, value);
        }
        if let Some(raised) = &figures.alarms {
            for alarm in ALARMS {
                let is_raised = raised.iter().any(|name| name == alarm);
                let value = f64::from(u8::from(is_raised));
                self.add_labelled(&catalog::NODE_ALARM, &[("alarm", alarm)], value);
            }
        }
    }

    fn messages(&mut self, messages: &MessageCounters) {
        for (metric, value) in [
            (&catalog::NODE_PUBLISHED, messages.published),
            (&catalog::NODE_CONFIRMED, messages.confirmed),
            (&catalog::NODE_DELIVERED, messages.delivered),
            (&catalog::NODE_ACKNOWLEDGED, messages.acknowledged),
            (&catalog::NODE_REDELIVERED, messages.redelivered),
            (&catalog::NODE_UNROUTABLE, messages.unroutable),
        ] {
            self.add(metric, value as f64);
        }
    }

    fn queues(&mut self, queues: &QueueTotals) {
        self.add(&catalog::NODE_QUEUES, queues.count as f64);
        self.add(&catalog::NODE_MESSAGES_READY, queues.ready as f64);
        self.add(&catalog::NODE_MESSAGES_UNACKNOWLEDGED, queues.unacknowledged as f64);
        let mut others = queues.ready + queues.unacknowledged;
        for queue in &queues.longest {
            others = others.saturating_sub(queue.messages);
            let labels = [("queue", queue.name.as_str()), ("vhost", queue.vhost.as_str())];
            self.add_labelled(&catalog::NODE_QUEUE_MESSAGES, &labels, queue.messages as f64);
        }
        self.add_labelled(&catalog::NODE_QUEUE_MESSAGES, &[("queue", OTHER)], others as f64);
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_inside::QueueDepth;

    use super::*;

    #[test]
    fn queues_add_up_to_all_messages() {
        let queue = QueueDepth { vhost: "/".to_owned(), name: "q".to_owned(), messages: 5 };
        let queues = QueueTotals { count: 9, ready: 6, unacknowledged: 2, longest: vec![queue] };
        let figures = NodeFigures {
            queues: Some(queues),
            alarms: Some(vec!["disk".to_owned()]),
            ..NodeFigures::default()
        };
        let mut snapshot = MetricsSnapshot::new(0);
        let mut cpu = ThreadCpu::default();
        write_node(&mut snapshot, &Arc::default(), u32::MAX, Answer::Figures(&figures), &mut cpu);
        let of = |metric: &MetricDescription| {
            let points = snapshot.points().iter().filter(|point| point.metric.name == metric.name);
            points
                .map(|point| {
                    let label = point.labels.first().map(|(_, value)| value.to_string());
                    (label.unwrap_or_default(), point.value)
                })
                .collect::<Vec<_>>()
        };
        let labelled =
            |pairs: [(&str, f64); 2]| pairs.map(|(label, value)| (label.to_owned(), value));
        assert_eq!(of(&catalog::NODE_QUEUE_MESSAGES), labelled([("q", 5.0), ("other", 3.0)]));
        assert_eq!(of(&catalog::NODE_ALARM), labelled([("memory", 0.0), ("disk", 1.0)]));
        assert_eq!(of(&catalog::NODE_UP), [(String::new(), 1.0)]);
    }
}
