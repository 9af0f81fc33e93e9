//! Clients of the stream protocol, on the installed release, or on the one in `RABBITSCOPE_BROKER_ROOT`.

use std::{thread, time::Duration};

use rabbitscope_runs::scenario::{Protocol, PublisherGroup};
use rabbitscope_testing::{Workbench, broker_with, eventually, node_options, port_of, queues_on};

use super::planted::Back;

const LOAD: &str = r#"
    [[queues]]
    name = "log-{}"
    from = 1
    to = 2
    type = "stream"
    arguments = { x-max-age = "1D" }
    [[queues]]
    name = "packed"
    type = "stream"
    [[publishers]]
    protocol = "stream"
    count = 2
    queue = "log-{}"
    size = "200B"
    rate = 40
    reference = true
    [[publishers]]
    protocol = "stream"
    queue = "packed"
    size = "500B"
    sub-entry-size = 10
    phases = [{ for = "1h", burst = 20, every = "500ms" }]
    [[publishers]]
    queue = "packed"
    size = "300B"
    rate = 20
    [[consumers]]
    protocol = "stream"
    count = 2
    queue = "log-{}"
    credit = 3
    offset = "first"
    processing-time = "5ms"
    [[consumers]]
    protocol = "stream"
    queue = "packed"
    consumer-name = "billing"
    store-every = 20
    "#;

fn publishers(back: &Back, size: u32) -> &PublisherGroup {
    let mut groups = back.scenario.publishers.iter();
    let group = groups.find(|group| group.size == Some(size));
    group.unwrap_or_else(|| panic!("{size}\n{}", back.text))
}

#[track_caller]
fn check(back: &Back) {
    let text = &back.text;
    let logs = publishers(back, 200);
    let rate = logs.rate.unwrap_or_default();
    assert!((rate / 40.0 - 1.0).abs() < 0.03, "{rate}\n{text}");
    assert_eq!((logs.protocol, logs.count, logs.reference), (Protocol::Stream, 2, true), "{text}");
    assert_eq!(logs.queue.as_deref(), Some("log-{}"), "{text}");
    assert!(logs.has_confirms(), "{text}");
    let packed = publishers(back, 500);
    assert_eq!((packed.sub_entry_size, packed.reference), (Some(10), false), "{text}");
    let [phase] = packed.phases[..] else { panic!("{text}") };
    assert_eq!(phase.burst, Some(20), "{text}");
    assert_eq!(publishers(back, 300).protocol, Protocol::Amqp091, "{text}");
    let readers = back.consumers("log-{}");
    assert_eq!((readers.protocol, readers.count), (Protocol::Stream, 2), "{text}");
    let stored = back.consumers("packed");
    assert_eq!(stored.consumer_name.as_deref(), Some("billing"), "{text}");
    assert!((15..=30).contains(&stored.store_every.unwrap()), "{text}");
    let log = back.scenario.queue_spec("log-{}").unwrap();
    assert!(log.arguments.contains_key("x-max-age"), "{text}");
    assert!(!text.contains("left out"), "{text}");
}

#[test]
fn clients_of_streams_come_back_and_are_compared() {
    let Some(back) = Back::from_load("workload-streams", LOAD) else { return };
    let text = &back.text;
    check(&back);
    back.check_processing("log-{}", 5.0, 0.25);
    let readers = back.consumers("log-{}");
    assert_eq!(readers.credit, Some(3), "{text}");
    assert!(text.contains("offset = \"first\""), "{text}");
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
            assert!(!["members", "sizes", "keys"].contains(&name), "{name}\n{likeness:#}");
        }
    }
}

#[test]
fn clients_of_streams_are_observed_in_the_middle_of_their_connections() {
    let Some(bench) = Workbench::for_root("workload-streams-observing") else { return };
    let broker = broker_with(|spec| spec.plugins.push("rabbitmq_stream".to_owned()));
    bench.file("planted.toml", format!("name = \"planted\"\nrun.duration = \"40s\"\n{LOAD}"));
    let uri = format!("{}?stream_port={}", broker.uri(), port_of(&broker, "stream"));
    let mut run = bench.start(&format!("run planted.toml --uri {uri} --out out"));
    eventually("messages flow", || queues_on(&broker).contains("packed"));
    thread::sleep(Duration::from_secs(3));
    let back = Back::from_capture(bench, &format!("{} --duration 8s", node_options(&broker)));
    run.kill().unwrap();
    run.wait().unwrap();
    // The node tells the streams of publishers and readers.
    check(&back);
    back.runs();
}
