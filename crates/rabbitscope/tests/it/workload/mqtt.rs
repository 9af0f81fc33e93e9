//! Clients of MQTT beside those of AMQP 0-9-1.

use std::{thread, time::Duration};

use rabbitscope_runs::scenario::{ConsumerGroup, Protocol, PublisherGroup};
use rabbitscope_testing::{Workbench, broker_with, eventually, node_options, queues_on};

use super::planted::Back;

const LOAD: &str = r#"
    [[queues]]
    name = "archive"
    bindings = [{ exchange = "amq.topic", routing-key = "sensors.#" }]
    [[publishers]]
    protocol = "mqtt"
    count = 2
    topic = "sensors/{}/state"
    from = 1
    to = 2
    size = "200B"
    rate = 40
    [[publishers]]
    protocol = "mqtt"
    qos = 0
    topic = "alarms"
    size = "64B"
    rate = 25
    [[publishers]]
    exchange = "amq.topic"
    routing-key = "commands.all"
    size = "300B"
    rate = 20
    [[consumers]]
    protocol = "mqtt"
    topics = ["sensors/+/state"]
    processing-time = "5ms"
    [[consumers]]
    protocol = "mqtt"
    qos = 0
    count = 2
    topics = ["commands/#"]
    [[consumers]]
    queue = "archive"
    auto-ack = true
    "#;

fn publishers(back: &Back, protocol: Protocol, size: u32) -> &PublisherGroup {
    let groups = back.scenario.publishers.iter();
    let mut groups = groups.filter(|group| group.protocol == protocol && group.size == Some(size));
    groups.next().unwrap_or_else(|| panic!("{}", back.text))
}

fn subscribers<'a>(back: &'a Back, topic: &str) -> &'a ConsumerGroup {
    let groups = back.scenario.consumers.iter();
    let mut groups = groups.filter(|group| group.topics == [topic]);
    groups.next().unwrap_or_else(|| panic!("{topic}\n{}", back.text))
}

#[track_caller]
fn check(back: &Back) {
    let text = &back.text;
    for (protocol, size, count, rate) in [
        (Protocol::Mqtt, 200, 2, 40.0),
        (Protocol::Mqtt, 64, 1, 25.0),
        (Protocol::Amqp091, 300, 1, 20.0),
    ] {
        let group = publishers(back, protocol, size);
        let found = group.rate.unwrap_or_default();
        assert!((found / rate - 1.0).abs() < 0.03 && group.count == count, "{found}\n{text}");
    }
    let confirmed = publishers(back, Protocol::Mqtt, 200);
    assert!(confirmed.qos == Some(1) && confirmed.has_confirms(), "{text}");
    assert!(text.contains("topic = \"sensors/{}/state\"\nfrom = 1\nto = 2\n"), "{text}");
    assert_eq!(publishers(back, Protocol::Mqtt, 64).qos, Some(0), "{text}");
    let slow = subscribers(back, "sensors/+/state");
    assert_eq!(slow.qos, Some(1), "{text}");
    assert!(slow.processing_time.is_some() || slow.processing_time_shares.is_some(), "{text}");
    let fast = subscribers(back, "commands/#");
    assert_eq!((fast.qos, fast.count), (Some(0), 2), "{text}");
    // The broker's own queues are not those of a scenario.
    let queues: Vec<&str> = back.scenario.queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(queues, ["archive"], "{text}");
    assert!(back.consumers("archive").auto_ack, "{text}");
    assert!(!text.contains("left out"), "{text}");
}

#[test]
fn clients_of_mqtt_come_back_and_are_compared() {
    let Some(back) = Back::from_load("workload-mqtt", LOAD) else { return };
    check(&back);
    back.runs();
    let likeness = back.compared();
    let groups = likeness["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 6, "{likeness:#}");
    for group in groups {
        let figures = group["figures"].as_array().unwrap();
        assert!(!figures.is_empty(), "a group is not in the run: {likeness:#}");
        // Figures that no shared machine disturbs.
        for figure in figures.iter().filter(|figure| figure["verdict"] == "differs") {
            let name = figure["name"].as_str().unwrap();
            assert!(!["members", "sizes", "keys"].contains(&name), "{name}\n{likeness:#}");
        }
    }
}

#[test]
fn clients_of_mqtt_are_observed_in_the_middle_of_their_connections() {
    let Some(bench) = Workbench::for_root("workload-mqtt-observing") else { return };
    let broker = broker_with(|spec| spec.plugins.push("rabbitmq_mqtt".to_owned()));
    bench.file("planted.toml", format!("name = \"planted\"\nrun.duration = \"40s\"\n{LOAD}"));
    let mut run = bench.start(&format!("run planted.toml --uri {} --out out", broker.uris()[0]));
    eventually("messages flow", || queues_on(&broker).contains("archive"));
    thread::sleep(Duration::from_secs(3));
    let back = Back::from_capture(bench, &format!("{} --duration 8s", node_options(&broker)));
    run.kill().unwrap();
    run.wait().unwrap();
    check(&back);
    // Only the node knows the filters: the capture has no subscription.
    assert!(!back.text.contains("only the topics that were delivered"), "{}", back.text);
    back.runs();
}
