//! Rates, sizes, windows and processing times come back.

use std::time::Duration;

use rabbitscope_runs::scenario::{Arrival, Settle};

use super::planted::Back;

#[test]
fn fixed_rates_and_two_sizes() {
    let Some(back) = Back::from_load(
        "workload-rates",
        r#"
        [[queues]]
        name = "orders"
        [[publishers]]
        count = 3
        connections = 3
        queue = "orders"
        size = "512B"
        rate = 40
        persistent = true
        confirms = true
        [[publishers]]
        count = 2
        connections = 2
        queue = "orders"
        size = "4KiB"
        rate = 40
        properties = { priority = 3, expiration = "60s", headers = { tenant = "0123456789" } }
        [[consumers]]
        queue = "orders"
        auto-ack = true
        "#,
    ) else {
        return;
    };
    let groups = back.all_publishers("orders");
    let of = |bytes| groups.iter().find(|group| group.size == Some(bytes)).unwrap();
    let (small, large) = (of(512), of(4_096));
    assert_eq!(groups.len(), 2, "{}", back.text);
    assert_eq!((small.count, small.connections, large.count), (3, 3, 2), "{}", back.text);
    for group in [small, large] {
        let rate = group.rate.unwrap_or_default();
        assert!((rate / 40.0 - 1.0).abs() < 0.03, "{rate}\n{}", back.text);
        assert_eq!(group.arrival, Some(Arrival::Constant), "{}", back.text);
    }
    assert!(small.is_persistent() && small.has_confirms(), "{}", back.text);
    assert!(!large.is_persistent() && !large.has_confirms(), "{}", back.text);
    assert_eq!(large.properties.priority, Some(3), "{}", back.text);
    assert_eq!(large.properties.expiration, Some(Duration::from_secs(60)), "{}", back.text);
    assert_eq!(large.properties.headers.len(), 1, "{}", back.text);
    assert!(!back.text.contains("0123456789"), "a value of a header\n{}", back.text);
    assert!(back.consumers("orders").auto_ack, "{}", back.text);
    back.runs();
}

#[test]
fn closed_loops_and_their_windows() {
    let Some(back) = Back::from_load(
        "workload-windows",
        r#"
        [[queues]]
        name = "wide"
        [[queues]]
        name = "bursts"
        [[publishers]]
        queue = "wide"
        size = "100B"
        confirm-window = 20
        [[publishers]]
        queue = "bursts"
        size = "64B"
        phases = [{ for = "1h", burst = 25, every = "500ms" }]
        [[consumers]]
        queue = "wide"
        prefetch = 100
        multi-ack-every = 10
        [[consumers]]
        queue = "bursts"
        auto-ack = true
        "#,
    ) else {
        return;
    };
    let wide = back.publishers("wide");
    assert_eq!(
        (wide.confirm_window, wide.rate, wide.size),
        (Some(20), None, Some(100)),
        "{}",
        back.text
    );
    let [phase] = back.publishers("bursts").phases[..] else { panic!("{}", back.text) };
    assert_eq!(phase.burst, Some(25), "{}", back.text);
    let every = phase.every.unwrap_or_default().as_secs_f64();
    assert!((every / 0.5 - 1.0).abs() < 0.03, "{every}\n{}", back.text);
    let wide = back.consumers("wide");
    assert_eq!((wide.prefetch, wide.multi_ack_every), (Some(100), 10), "{}", back.text);
    back.runs();
}

#[test]
fn slow_consumers_and_their_prefetch() {
    let Some(back) = Back::from_load(
        "workload-slow",
        r#"
        [[queues]]
        name = "idle"
        [[queues]]
        name = "behind"
        [[publishers]]
        queue = "idle"
        rate = 60
        [[publishers]]
        queue = "behind"
        phases = [{ for = "1h", burst = 30, every = "1s" }]
        [[consumers]]
        count = 2
        queue = "idle"
        prefetch = 7
        processing-time = "20ms"
        [[consumers]]
        queue = "behind"
        prefetch = 20
        processing-time = "25ms"
        "#,
    ) else {
        return;
    };
    back.check_rate("idle", 60.0, 0.03);
    // On a shared machine the load generator itself is up to a millisecond late.
    back.check_processing("idle", 20.0, 0.1);
    // The median from delivery to acknowledgement is some 300 ms.
    back.check_processing("behind", 25.0, 0.1);
    assert_eq!(back.consumers("idle").prefetch, Some(7), "{}", back.text);
    assert_eq!(back.consumers("idle").count, 2, "{}", back.text);
    assert_eq!(back.consumers("behind").prefetch, Some(20), "{}", back.text);
    back.runs();
}

#[test]
fn refusals_with_and_without_requeue() {
    let Some(back) = Back::from_load(
        "workload-refusals",
        r#"
        [[exchanges]]
        name = "dead"
        type = "fanout"
        [[queues]]
        name = "again"
        durable = false
        [[queues]]
        name = "refused"
        arguments = { x-dead-letter-exchange = "dead" }
        [[queues]]
        name = "kept"
        bindings = [{ exchange = "dead" }]
        [[publishers]]
        queue = "again"
        rate = 20
        messages = 20
        [[publishers]]
        queue = "refused"
        rate = 50
        [[consumers]]
        queue = "again"
        prefetch = 5
        nack = true
        processing-time = "10ms"
        [[consumers]]
        queue = "refused"
        prefetch = 10
        nack = true
        requeue = false
        "#,
    ) else {
        return;
    };
    assert_eq!(back.consumers("again").settle(), Settle::Requeue, "{}", back.text);
    assert_eq!(back.consumers("refused").settle(), Settle::Discard, "{}", back.text);
    back.check_processing("again", 10.0, 0.15);
    assert!(back.text.contains("of the deliveries were repeated ones"), "{}", back.text);
    let again = back.scenario.queue_spec("again").unwrap();
    assert!(!again.durable, "{}", back.text);
    // Nobody reads the queue of dead letters; messages reach it.
    let kept = back.scenario.queue_spec("kept").unwrap();
    assert_eq!(kept.bindings[0].exchange, "dead", "{}", back.text);
    let refused = back.scenario.queue_spec("refused").unwrap();
    assert!(refused.arguments.contains_key("x-dead-letter-exchange"), "{}", back.text);
    back.runs();
}

#[test]
fn clients_that_publish_and_consume_on_one_connection() {
    let Some(back) = Back::from_load(
        "workload-one-connection",
        r#"
        [[queues]]
        name = "orders"
        [[queues]]
        name = "answers"
        [[publishers]]
        name = "services"
        queue = "orders"
        count = 3
        connections = 3
        rate = 40
        size = "600B"
        [[publishers]]
        queue = "answers"
        rate = 60
        size = "100B"
        [[consumers]]
        queue = "answers"
        count = 3
        connections-of = "services"
        prefetch = 10
        processing-time = "5ms"
        [[consumers]]
        queue = "orders"
        prefetch = 50
        "#,
    ) else {
        return;
    };
    let services = back.publishers("orders");
    assert_eq!((services.count, services.connections), (3, 3), "{}", back.text);
    let answers = back.consumers("answers");
    assert_eq!(answers.connections_of.as_deref(), Some(&*services.name), "{}", back.text);
    assert_eq!((answers.count, answers.connections), (3, 3), "{}", back.text);
    assert_eq!(back.consumers("orders").connections_of, None, "{}", back.text);
    back.check_rate("orders", 40.0, 0.03);
    back.check_processing("answers", 5.0, 0.2);
    back.runs();
}
