//! A running node is observed from the middle of its connections, and asked for its objects.

use std::{thread, time::Duration};

use rabbitscope_testing::{
    Workbench, broker_with, evaluate, eventually, node_options, own_broker, queues_on, tls_listener,
};

use super::planted::Back;

const LOAD: &str = r#"
    name = "planted"
    run.duration = "40s"
    [[exchanges]]
    name = "events"
    type = "topic"
    [[queues]]
    name = "slow"
    type = "quorum"
    arguments = { x-delivery-limit = 5 }
    bindings = [{ exchange = "events", routing-key = "a.*" }]
    [[publishers]]
    exchange = "events"
    routing-key = "a.1"
    rate = 50
    size = "300B"
    confirm-window = 100
    [[consumers]]
    queue = "slow"
    prefetch = 10
    processing-time = "10ms"
"#;

#[test]
fn a_node_is_observed_in_the_middle_of_its_load() {
    let Some(bench) = Workbench::for_root("workload-observing") else { return };
    let broker = own_broker();
    bench.file("planted.toml", LOAD);
    let mut run = bench.start(&format!("run planted.toml --uri {} --out out", broker.uri()));
    eventually("messages flow", || queues_on(&broker).contains("slow"));
    thread::sleep(Duration::from_secs(3));
    let export = bench.path("definitions.json");
    let written = evaluate(
        &broker,
        &format!(
            "file:write_file(\"{}\", rabbit_json:encode(rabbit_definitions:all_definitions()))",
            export.display()
        ),
    );
    assert_eq!(written, "ok");
    let definitions = bench.read("definitions.json");
    assert!(definitions.contains("password_hash"), "{definitions}");
    let options = node_options(&broker);
    let back = Back::from_capture(bench, &format!("{options} --duration 8s"));
    run.kill().unwrap();
    run.wait().unwrap();
    check(&back, &definitions, broker.login().1);
}

fn check(back: &Back, definitions: &str, password: &str) {
    let text = &back.text;
    back.check_rate("events", 50.0, 0.03);
    let group = back.publishers("events");
    assert_eq!(group.size, Some(300), "{text}");
    assert!(group.has_confirms() && group.routing_key() == "a.1", "{text}");
    // The marks of the run are not part of the load.
    assert_eq!(back.scenario.exchanges.len(), 1, "{text}");
    assert_eq!(back.scenario.exchanges[0].name, "events", "{text}");
    let queue = back.scenario.queue_spec("slow").unwrap();
    assert_eq!(queue.bindings[0].routing_key, "a.*", "{text}");
    assert!(queue.arguments.contains_key("x-delivery-limit"), "{text}");
    back.check_processing("slow", 10.0, 0.15);
    // Only the node knows it: the consumer began before the capture.
    assert_eq!(back.consumers("slow").prefetch, Some(10), "{text}");
    assert!(!text.contains("# Assumed"), "{text}");
    let hashes = definitions.split('"').filter(|part| part.len() > 40);
    for secret in hashes.chain([password]) {
        assert!(!text.contains(secret), "{secret}\n{text}");
    }
    back.runs();
    assert!(back.figures()["ready"].is_null(), "the node keeps no statistics of classic queues");
    check_likeness(back);
}

/// The broker of the comparison is like the source, and both have a profile.
fn check_likeness(back: &Back) {
    assert!(back.text.contains("# - RabbitMQ ") && back.text.contains(" on OTP "), "{}", back.text);
    let likeness = back.compared();
    let differences = likeness["broker-differences"].as_array().unwrap();
    assert!(differences.is_empty(), "{differences:#?}");
    let whole = likeness["whole"].as_array().unwrap();
    for name in ["profile by module", "profile by function"] {
        let figure = whole.iter().find(|figure| figure["name"] == name).unwrap();
        // A load of 50 messages a second gives few samples.
        assert_eq!(figure["verdict"], "not-judged", "{figure:#}");
        assert!(figure["messages"].as_u64() > Some(20), "{figure:#}");
    }
}

const ENCRYPTED: &str = r#"
    name = "encrypted"
    run.duration = "40s"
    [[queues]]
    name = "orders"
    [[queues]]
    name = "archive"
    [[publishers]]
    queue = "archive"
    rate = 400
    messages = 600
    size = "300B"
    [[publishers]]
    queue = "archive"
    rate = 10
    size = "300B"
    [[publishers]]
    queue = "orders"
    rate = 50
    size = "300B"
    confirm-window = 100
    [[consumers]]
    queue = "orders"
    prefetch = 10
    "#;

#[test]
fn a_load_with_tls_is_known_by_the_counts_of_the_node_and_by_its_records() {
    let Some(bench) = Workbench::for_root("workload-tls") else { return };
    let (listener, port) = tls_listener(&bench.directory);
    let statistics = "collect_statistics = fine\ncollect_statistics_interval = 1000\n";
    let broker = broker_with(|spec| spec.config = format!("{listener}{statistics}"));
    let (user, password) = broker.login();
    let uri = format!("uri = \"amqps://{user}:{password}@127.0.0.1:{port}\"");
    let tls = "tls = { ca = \"own-ca.pem\", server-name = \"broker.test\" }";
    bench.file("encrypted.toml", format!("{ENCRYPTED}\n[broker]\n{uri}\n{tls}\n"));
    let mut run = bench.start("run encrypted.toml --out out");
    eventually("messages flow", || queues_on(&broker).contains("orders"));
    thread::sleep(Duration::from_secs(3));
    let options = node_options(&broker);
    let back = Back::from_capture(bench, &format!("{options} --duration 8s"));
    run.kill().unwrap();
    run.wait().unwrap();
    let text = &back.text;
    // A second's count is missing at most.
    back.check_rate("orders", 50.0, 0.15);
    // Of the queue without a consumer, messages waited.
    let archive = back.scenario.queue_spec("archive").unwrap();
    assert!((600..1_000).contains(&archive.prefill), "{text}");
    assert!((200..=400).contains(&archive.prefill_size.unwrap()), "{text}");
    let figures = back.figures();
    let depths: Vec<u64> = serde_json::from_value(figures["ready"].clone()).unwrap();
    assert!(depths.len() >= 6 && depths.iter().all(|ready| *ready >= 600), "{depths:?}");
    let group = back.publishers("orders");
    assert!((300..=310).contains(&group.size.unwrap_or_default()), "{text}");
    assert!(group.has_confirms(), "{text}");
    assert_eq!(back.consumers("orders").prefetch, Some(10), "{text}");
    assert!(text.contains("connections have TLS: rates, targets and confirms"), "{text}");
}
