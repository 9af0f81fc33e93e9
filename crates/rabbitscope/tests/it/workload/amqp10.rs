//! Clients of AMQP 1.0 beside those of AMQP 0-9-1, on the installed release, or on the one in `RABBITSCOPE_BROKER_ROOT`.

use std::{thread, time::Duration};

use rabbitscope_broker::Installation;
use rabbitscope_runs::scenario::{Protocol, PublisherGroup};
use rabbitscope_testing::{Workbench, broker_with, evaluate, eventually, node_options, queues_on};

use super::planted::Back;

/// The broker's plugin, which does nothing since 4.0.
const PLUGIN: &str = "rabbitmq_amqp1_0";

const LOAD: &str = r#"
    [[exchanges]]
    name = "events"
    type = "topic"
    [[queues]]
    name = "orders {}"
    from = 1
    to = 2
    [[queues]]
    name = "archive"
    bindings = [{ exchange = "events", routing-key = "a.#" }]
    [[publishers]]
    protocol = "amqp-1.0"
    count = 2
    queue = "orders {}"
    size = "200B"
    rate = 40
    persistent = true
    [[publishers]]
    protocol = "amqp-1.0"
    exchange = "events"
    routing-key = "a.b"
    size = "3KB"
    rate = 25
    properties = { priority = 3, headers = { tenant = "0123456789" } }
    [[publishers]]
    queue = "archive"
    size = "300B"
    rate = 20
    [[consumers]]
    protocol = "amqp-1.0"
    count = 2
    connections = 2
    queue = "orders {}"
    prefetch = 10
    processing-time = "5ms"
    [[consumers]]
    protocol = "amqp-1.0"
    queue = "archive"
    prefetch = 40
    multi-ack-every = 5
    "#;

fn publishers(back: &Back, size: u32) -> &PublisherGroup {
    let mut groups = back.scenario.publishers.iter();
    let group = groups.find(|group| group.size == Some(size));
    group.unwrap_or_else(|| panic!("{size}\n{}", back.text))
}

#[track_caller]
fn check_publishers(back: &Back) {
    let text = &back.text;
    for (size, protocol, count, rate) in [
        (200, Protocol::Amqp10, 2, 40.0),
        (3_000, Protocol::Amqp10, 1, 25.0),
        (300, Protocol::Amqp091, 1, 20.0),
    ] {
        let group = publishers(back, size);
        let found = group.rate.unwrap_or_default();
        assert!((found / rate - 1.0).abs() < 0.03 && group.count == count, "{found}\n{text}");
        assert_eq!(group.protocol, protocol, "{text}");
    }
    assert_eq!(publishers(back, 200).queue.as_deref(), Some("orders {}"), "{text}");
    let events = publishers(back, 3_000);
    assert_eq!((events.exchange(), events.routing_key()), ("events", "a.b"), "{text}");
    assert!(!text.contains("0123456789"), "a value of a property\n{text}");
}

#[track_caller]
fn check_consumers(back: &Back) {
    let text = &back.text;
    assert!(
        back.scenario.consumers.iter().all(|group| group.protocol == Protocol::Amqp10),
        "{text}"
    );
    assert_eq!(back.consumers("orders {}").count, 2, "{text}");
    back.check_processing("orders {}", 5.0, 0.25);
    assert_eq!(back.consumers("archive").multi_ack_every, 5, "{text}");
}

#[test]
fn clients_of_amqp10_come_back_and_are_compared() {
    let Some(back) = Back::from_load("workload-amqp10", LOAD) else { return };
    let text = &back.text;
    check_publishers(&back);
    check_consumers(&back);
    let orders = publishers(&back, 200);
    assert!(orders.is_persistent() && orders.has_confirms(), "{text}");
    let events = publishers(&back, 3_000);
    assert!(!events.is_persistent(), "{text}");
    assert_eq!(events.properties.priority, Some(3), "{text}");
    assert_eq!(events.properties.headers.len(), 1, "{text}");
    let prefetch = |queue| back.consumers(queue).prefetch;
    assert_eq!((prefetch("orders {}"), prefetch("archive")), (Some(10), Some(40)), "{text}");
    assert!(!text.contains("left out") && !text.contains("have their sections"), "{text}");
    back.runs();
    let likeness = back.compared();
    let groups = likeness["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 5, "{likeness:#}");
    for group in groups {
        let figures = group["figures"].as_array().unwrap();
        assert!(!figures.is_empty(), "a group is not in the run: {likeness:#}");
        // Figures that no shared machine disturbs.
        for figure in figures.iter().filter(|figure| figure["verdict"] == "differs") {
            let name = figure["name"].as_str().unwrap();
            let steady = ["members", "sizes", "keys", "properties", "prefetch", "settled at once"];
            assert!(!steady.contains(&name), "{name}\n{likeness:#}");
        }
    }
}

#[test]
fn clients_of_amqp10_are_observed_in_the_middle_of_their_connections() {
    let Some(bench) = Workbench::for_root("workload-amqp10-observing") else { return };
    let has_plugin = Installation::find().unwrap().has_plugin(PLUGIN);
    let broker = broker_with(|spec| {
        if has_plugin {
            spec.plugins.push(PLUGIN.to_owned());
        }
    });
    bench.file("planted.toml", format!("name = \"planted\"\nrun.duration = \"40s\"\n{LOAD}"));
    let mut run = bench.start(&format!("run planted.toml --uri {} --out out", broker.uri()));
    eventually("messages flow", || queues_on(&broker).contains("archive"));
    thread::sleep(Duration::from_secs(3));
    let version = evaluate(&broker, "rabbit_misc:version()");
    let back = Back::from_capture(bench, &format!("{} --duration 8s", node_options(&broker)));
    run.kill().unwrap();
    run.wait().unwrap();
    // The node tells the queues of consumers, and from 4.1 on the targets of publishers.
    check_consumers(&back);
    let tells_targets = !["\"3.", "\"4.0."].iter().any(|before| version.contains(before));
    if tells_targets {
        check_publishers(&back);
    } else {
        assert!(
            back.text.contains("messages to queues of unknown names are left out"),
            "{}",
            back.text
        );
        assert_eq!(publishers(&back, 300).protocol, Protocol::Amqp091, "{}", back.text);
    }
    back.runs();
}
