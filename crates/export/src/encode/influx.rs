//! The Influx line protocol: <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/>.
//!
//! The measurement is `rabbitscope` and a metric is a field, so that a metric has the same name in `VictoriaMetrics`
//! as in Prometheus.

use std::{collections::BTreeMap, fmt::Write};

use crate::MetricsSnapshot;

/// Sorted, escaped tags, each with a leading comma.
type Tags = String;

/// Encodes all values of a snapshot. Values with the same labels share a line.
pub(crate) fn influx_lines(snapshot: &MetricsSnapshot, instance: &str) -> Vec<u8> {
    let mut lines: BTreeMap<Tags, String> = BTreeMap::new();
    for point in snapshot.points().iter().filter(|point| point.value.is_finite()) {
        let mut tags = Tags::new();
        for (name, value) in point.all_labels(instance) {
            write!(tags, ",{name}={}", escaped(&value)).expect("a string takes everything");
        }
        let fields = lines.entry(tags).or_default();
        let comma = if fields.is_empty() { "" } else { "," };
        let (name, value) = (point.metric.name, point.value);
        write!(fields, "{comma}{name}={value}").expect("a string takes everything");
    }
    let nanos = u128::from(snapshot.unix_millis) * 1_000_000;
    let mut text = String::new();
    for (tags, fields) in lines {
        writeln!(text, "rabbitscope{tags} {fields} {nanos}").expect("a string takes everything");
    }
    text.into_bytes()
}

/// Escapes the value of a tag.
///
/// A backslash only escapes the characters listed here. A literal backslash before one of them, or before the space
/// that ends the tags, would escape that character. A queue's name could then inject a tag or field.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            ',' | '=' | ' ' => {
                end_backslashes(&mut text);
                text.extend(['\\', character]);
            }
            character if character.is_control() => text.push('\u{fffd}'),
            character => text.push(character),
        }
    }
    end_backslashes(&mut text);
    text
}

fn end_backslashes(text: &mut String) {
    if text.ends_with('\\') {
        text.push('\u{fffd}');
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{NodeLabels, catalog};

    #[test]
    fn values_of_the_same_labels_share_a_line() {
        let node = Arc::new(NodeLabels { node: "a@b".to_owned(), ..NodeLabels::default() });
        let mut snapshot = MetricsSnapshot::new(1_700_000_000_123);
        snapshot.add(&catalog::NODE_UP, Some(&node), vec![], 1.0);
        snapshot.add(&catalog::NODE_QUEUES, Some(&node), vec![], 0.5);
        let queue = vec![("queue", Arc::from("a b,c=d\\"))];
        snapshot.add(&catalog::NODE_QUEUE_MESSAGES, Some(&node), queue, 1e15);
        snapshot.add(&catalog::SELF_CPU, None, vec![("empty", Arc::from(""))], f64::NAN);
        let text = String::from_utf8(influx_lines(&snapshot, "h")).unwrap();
        assert_eq!(
            text,
            "rabbitscope,instance=h,job=rabbitscope,node=a@b node_up=1,node_queues=0.5 1700000000123000000\n\
             rabbitscope,instance=h,job=rabbitscope,node=a@b,queue=a\\ b\\,c\\=d\\\u{fffd} \
             node_queue_messages=1000000000000000 1700000000123000000\n"
        );
    }

    #[test]
    fn no_queue_is_called_so_that_it_writes_another_tag() {
        for (name, expected) in [
            ("a\\,b=c", "a\\\u{fffd}\\,b\\=c"),
            ("a\\ up=0", "a\\\u{fffd}\\ up\\=0"),
            ("a\\\\=", "a\\\\\u{fffd}\\="),
            ("a\\b", "a\\b"),
        ] {
            assert_eq!(escaped(name), expected, "{name}");
        }
    }
}
