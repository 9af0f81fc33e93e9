//! Exchanges, keys, polling, and requests with replies come back.

use std::time::Duration;

use rabbitscope_runs::scenario::QueueType;

use super::planted::Back;

#[test]
fn fan_out_by_topics() {
    let Some(back) = Back::from_load(
        "workload-topics",
        r##"
        [[exchanges]]
        name = "events"
        type = "topic"
        [[queues]]
        name = "region-{}"
        to = 4
        bindings = [{ exchange = "events", routing-key = "*.{}" }]
        [[queues]]
        name = "all"
        bindings = [{ exchange = "events", routing-key = "#" }]
        [[publishers]]
        count = 2
        exchange = "events"
        routing-keys = ["eu.1", "eu.2", "us.3", "us.4"]
        rate = 60
        [[consumers]]
        count = 4
        queue = "region-{}"
        auto-ack = true
        [[consumers]]
        queue = "all"
        prefetch = 50
        "##,
    ) else {
        return;
    };
    assert_eq!(back.scenario.exchanges[0].kind, "topic", "{}", back.text);
    let regions = back.scenario.queue_spec("region-{}").unwrap();
    assert_eq!((regions.from, regions.to), (Some(1), Some(4)), "{}", back.text);
    assert_eq!(regions.bindings[0].routing_key, "*.{}", "{}", back.text);
    assert_eq!(back.scenario.queue_spec("all").unwrap().bindings[0].routing_key, "#");
    let group = back.publishers("events");
    let keys = group.routing_keys.as_deref().unwrap_or_default();
    assert_eq!((group.count, keys), (2, &["eu.1", "eu.2", "us.3", "us.4"].map(str::to_owned)[..]));
    back.check_rate("events", 60.0, 0.03);
    assert_eq!(back.consumers("region-{}").count, 4, "{}", back.text);
    assert!(back.consumers("region-{}").auto_ack && !back.consumers("all").auto_ack);
    back.runs();
}

#[test]
fn questions_for_single_messages() {
    let Some(back) = Back::from_load(
        "workload-polling",
        r#"
        [[queues]]
        name = "jobs"
        type = "quorum"
        [[publishers]]
        queue = "jobs"
        rate = 20
        confirm-window = 1
        [[consumers]]
        count = 2
        connections = 2
        queue = "jobs"
        polling = true
        poll-interval = "40ms"
        "#,
    ) else {
        return;
    };
    assert_eq!(back.scenario.queue_spec("jobs").unwrap().queue_type, QueueType::Quorum);
    back.check_rate("jobs", 20.0, 0.03);
    assert_eq!(back.publishers("jobs").confirm_window, Some(1), "{}", back.text);
    let readers = back.consumers("jobs");
    assert_eq!((readers.count, readers.connections), (2, 2), "{}", back.text);
    let interval = readers.polled_every().unwrap();
    let (least, most) = (Duration::from_millis(37), Duration::from_millis(48));
    assert!((least..most).contains(&interval), "{interval:?}\n{}", back.text);
    back.runs();
}

#[test]
fn requests_and_replies() {
    let Some(back) = Back::from_load(
        "workload-requests",
        r#"
        [[queues]]
        name = "prices"
        [[requests]]
        count = 3
        connections = 3
        queue = "prices"
        size = "200B"
        rate = 30
        [[responders]]
        count = 2
        queue = "prices"
        prefetch = 10
        size = "1KiB"
        "#,
    ) else {
        return;
    };
    let [requests] = &back.scenario.requests[..] else { panic!("{}", back.text) };
    assert_eq!((requests.count, requests.queue.as_str()), (3, "prices"), "{}", back.text);
    assert_eq!(requests.size_bytes, 200, "{}", back.text);
    let rate = requests.rate.unwrap_or_default();
    assert!((rate / 30.0 - 1.0).abs() < 0.03, "{rate}\n{}", back.text);
    let [responders] = &back.scenario.responders[..] else { panic!("{}", back.text) };
    assert_eq!((responders.count, responders.prefetch), (2, Some(10)), "{}", back.text);
    assert_eq!(responders.size_bytes, 1_024, "{}", back.text);
    assert!(back.scenario.publishers.is_empty(), "{}", back.text);
    let again = back.text.matches("[[consumers]]").count();
    assert_eq!(again, 0, "{}", back.text);
}
