//! Everything that was observed and is not in the model.

use crate::observe::{Counts, Flows, LinkCounts, Protocol, ReadFlow};

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
    of_links(&flows.links, &mut add);
    let idle = flows.idle_links;
    let of_links = "AMQP 1.0 and of streams";
    add(
        idle,
        format!("{idle} connections of {of_links} without messages and readers are left out"),
    );
    let half = flows.seconds() * 5e8;
    for (lives, of) in
        [(&flows.churn.lives_by_mqtt, "MQTT"), (&flows.churn.lives_of_links, of_links)]
    {
        let short = lives.filled().filter(|(_, last, _)| (*last as f64) < half);
        let short = short.map(|(.., count)| count).sum();
        add(short, format!("{short} connections of {of} came and went; here their clients stay"));
    }
    let private = flows.seen.private_arguments;
    add(
        private,
        format!("{private} arguments of declarations that RabbitMQ does not know are left out"),
    );
    missing
}

/// Notes policies that would connect the broker with others.
pub(super) fn federation(policies: usize) -> Option<String> {
    (policies > 0).then(|| format!("{policies} policies of federation are left out"))
}

/// Notes names with the placeholder of scenarios.
pub(super) fn placeholders(count: usize) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} names have `{{}}`, which scenarios replace; here they have parentheses")
    })
}

/// Names connections that groups share in a way that a scenario does not have.
pub(super) fn shared_connections(count: u64) -> Option<String> {
    (count > 0).then(|| {
        format!("{count} connections have several groups; here each group has its own connections")
    })
}

/// Lists readers that began before the capture, and whose queues no source tells.
pub(super) fn of_unknown_queues(flows: &[&ReadFlow]) -> Vec<String> {
    let of = |protocol, name: &str| {
        let count = flows.iter().filter(|flow| flow.protocol == protocol).count();
        (count > 0).then(|| format!("{count} {name} of unknown queues are left out"))
    };
    let lists =
        [of(Protocol::Amqp10, "consumers by AMQP 1.0"), of(Protocol::Stream, "readers of streams")];
    lists.into_iter().flatten().collect()
}

/// Lists the parts of AMQP 1.0 and of streams that a scenario does not have.
fn of_links(counts: &LinkCounts, add: &mut impl FnMut(u64, String)) {
    let LinkCounts { settled, without_header, unread_sections, addressed, .. } = *counts;
    let LinkCounts { of_unknown_address, refused, transactions, filters, .. } = *counts;
    let refused_readers = counts.refused_readers;
    let LinkCounts { with_filter, with_properties, of_snappy, other_starts, .. } = *counts;
    for (count, text) in [
        (
            settled,
            "messages by AMQP 1.0 were settled when they were sent; here all have an outcome",
        ),
        (
            without_header,
            "messages by AMQP 1.0 have no header, which RabbitMQ takes for durable before 4.2; here they are durable",
        ),
        (unread_sections, "messages by AMQP 1.0 have their sections in their size"),
        (addressed, "messages by AMQP 1.0 had addresses of their own; here their links have them"),
        (of_unknown_address, "messages by AMQP 1.0 have an address of an unknown form"),
        (refused, "messages by AMQP 1.0 or of streams were refused by the broker"),
        (refused_readers, "readers by AMQP 1.0 or of streams were refused by the broker"),
        (transactions, "links of AMQP 1.0 are for transactions"),
        (filters, "filters of readers by AMQP 1.0 or of streams are left out"),
        (with_filter, "messages of streams have values for filters, which here they do not have"),
        (
            with_properties,
            "messages of streams have more than a section of data; here the bytes of the whole message are the body",
        ),
        (of_snappy, "messages of streams are compressed by snappy; here they are not compressed"),
        (other_starts, "readers of streams began at a number or a time; here at the first message"),
    ] {
        add(count, format!("{count} {text}"));
    }
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
