//! Everything that was observed and is not in the model.

use crate::observe::{Counts, Flows};

/// Lists everything that was observed and is not in the model.
pub(super) fn missing(flows: &Flows, others: u64) -> Vec<String> {
    let mut missing = Vec::new();
    let mut add = |count: u64, text: String| {
        if count > 0 {
            missing.push(text);
        }
    };
    add(others, format!("{others} messages of other virtual hosts are left out"));
    let left_out = flows.left_out + flows.seen.left_out;
    add(left_out, format!("{left_out} messages or declarations found no room"));
    add(flows.returned, format!("{} messages came back without a route", flows.returned));
    add(
        flows.missed,
        format!(
            "bytes were missing {} times; windows and processing times skip them",
            flows.missed
        ),
    );
    by_mqtt(&flows.mqtt, &mut add);
    let half = flows.seconds() * 5e8;
    let lives = flows.churn.lives_by_mqtt.filled();
    let short = lives.filter(|(_, last, _)| (*last as f64) < half).map(|(.., count)| count).sum();
    add(short, format!("{short} connections of MQTT came and went; here their clients stay"));
    let private = flows.seen.private_arguments;
    add(
        private,
        format!("{private} arguments of declarations that RabbitMQ does not know are left out"),
    );
    missing
}

/// Names connections that groups share in a way that a scenario does not have.
pub(super) fn shared_connections(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} connections have several groups; here each group has its own connections")
    })
}

/// Lists the parts of MQTT that a scenario does not have.
fn by_mqtt(counts: &Counts, add: &mut impl FnMut(u64, String)) {
    let Counts { retained, of_quality_2, without_topic, without_filter, .. } = *counts;
    let Counts { wills, persistent, of_both_qualities, with_dot, .. } = *counts;
    add(
        retained,
        format!("{retained} messages by MQTT were retained ones, which here are usual ones"),
    );
    let of_2 =
        "messages and filters of MQTT asked for quality of service 2, which RabbitMQ takes for 1";
    add(of_quality_2, format!("{of_quality_2} {of_2}"));
    let no_topic =
        "messages by MQTT had a topic that no packet showed; here they have that of others";
    add(without_topic, format!("{without_topic} {no_topic}"));
    let dot = "messages and filters of MQTT have a dot in their topic, for which here is `_`";
    add(with_dot, format!("{with_dot} {dot}"));
    let no_filter =
        "filters of subscriptions are left out: they are shared, invalid, or too many of a client";
    add(without_filter, format!("{without_filter} {no_filter}"));
    add(wills, format!("{wills} clients of MQTT have a will, which here they do not have"));
    let sessions =
        "clients of MQTT have sessions that outlive their connection; here they end with it";
    add(persistent, format!("{persistent} {sessions}"));
    let both = "clients of MQTT published with quality of service 0 and 1; here each has its own connections";
    add(of_both_qualities, format!("{of_both_qualities} {both}"));
}
