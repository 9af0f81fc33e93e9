//! Queues in the text form that Prometheus reads.
//! Source: "Exposition formats" in Prometheus' documentation.

use std::fmt::Write;

use super::QueueRow;

type Figure = fn(&QueueRow) -> Option<u64>;

const METRICS: [(&str, &str, Figure); 4] = [
    ("rabbitscope_queue_messages_ready", "Messages ready for delivery", |row| row.ready),
    (
        "rabbitscope_queue_messages_unacknowledged",
        "Messages delivered and not yet acknowledged",
        |row| row.unacknowledged,
    ),
    ("rabbitscope_queue_consumers", "Consumers", |row| row.consumers),
    ("rabbitscope_queue_memory_bytes", "Memory of the queue's process", |row| row.memory_bytes),
];

/// All figures that are known. A queue that did not answer has none, and is counted.
pub fn prometheus(rows: &[&QueueRow], unanswered: usize) -> String {
    let mut text = String::new();
    for (name, help, figure) in METRICS {
        head(&mut text, name, help);
        for row in rows {
            if let Some(value) = figure(row) {
                let (vhost, queue) = (escaped(&row.vhost), escaped(&row.name));
                let kind = &row.kind;
                let _ = writeln!(
                    text,
                    "{name}{{vhost=\"{vhost}\",queue=\"{queue}\",type=\"{kind}\"}} {value}"
                );
            }
        }
    }
    let name = "rabbitscope_queues_unanswered";
    head(&mut text, name, "Queues that gave no answer in time");
    let _ = writeln!(text, "{name} {unanswered}");
    text
}

fn head(text: &mut String, name: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\\b\"c\nd"), "a\\\\b\\\"c\\nd");
    }

    #[test]
    fn what_is_not_known_is_left_out() {
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
