//! Queues as metrics for Prometheus.

use rabbitscope_text::metrics::{Family, Sample, write_family};

use super::QueueRow;

/// A figure of a queue, if it is known.
type Figure = fn(&QueueRow) -> Option<u64>;

const METRICS: [(&str, &str, Figure); 4] = [
    ("queue_messages_ready", "Messages ready for delivery", |row| row.ready),
    ("queue_messages_unacknowledged", "Messages delivered and not yet acknowledged", |row| {
        row.unacknowledged
    }),
    ("queue_consumers", "Consumers", |row| row.consumers),
    ("queue_memory_bytes", "Memory of the queue's process", |row| row.memory_bytes),
];

/// Returns all known figures. A queue that did not answer has none, and is counted.
pub fn prometheus(rows: &[&QueueRow], unanswered: usize) -> String {
    let mut text = String::new();
    let gauge = |name, help| Family { name, kind: "gauge", help };
    for (name, help, figure) in METRICS {
        let samples = rows.iter().filter_map(|row| Some(sample(row, figure(row)?)));
        write_family(&mut text, gauge(name, help), samples).expect("a string takes all text");
    }
    let unanswered = [Sample::new(unanswered as f64)];
    let family = gauge("queues_unanswered", "Queues that gave no answer in time");
    write_family(&mut text, family, unanswered).expect("a string takes all text");
    text
}

fn sample(row: &QueueRow, value: u64) -> Sample<'_> {
    Sample::new(value as f64)
        .with("vhost", &*row.vhost)
        .with("queue", &*row.name)
        .with("type", &*row.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_figures_are_left_out() {
        let row = QueueRow {
            name: "q".into(),
            vhost: "/".into(),
            kind: "quorum".into(),
            node: "a@b".into(),
            state: None,
            ready: Some(3),
            unacknowledged: None,
            consumers: None,
            memory_bytes: None,
            missing: None,
        };
        let text = prometheus(&[&row], 2);
        let figures: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            figures,
            [
                "rabbitscope_queue_messages_ready{vhost=\"/\",queue=\"q\",type=\"quorum\"} 3",
                "rabbitscope_queues_unanswered 2"
            ]
        );
    }
}
