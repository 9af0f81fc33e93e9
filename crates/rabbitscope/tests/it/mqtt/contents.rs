//! Properties of MQTT 5, and bodies that are sent as they are.

use rabbitscope_testing::{
    Workbench, count, latency_figure, not_run,
    scenario::{Consumers, Queue, Scenario, raw},
};
use serde_json::json;

use super::{broker, interoperation::paho, publishers, readers, versions::has_version_five};

/// Another client sees what the scenario says.
#[test]
fn properties_arrive() {
    if !has_version_five() {
        return not_run("the broker does not speak MQTT 5");
    }
    let bench = Workbench::new("mqtt-properties");
    let Some(client) = paho(&bench) else { return };
    let mut looking = client.start(&["look", "looked/at"]);
    looking.says("subscribed");
    let properties = "{ content-type = \"application/json\", correlation-id = \"c\", reply-to = \"r/s\", \
                      expiration = \"60s\", headers = { a = \"ü\", b = \"\" } }";
    let write = Scenario::new("mqtt-properties")
        .publishers(
            publishers("looked/at")
                .mqtt_version("5")
                .messages(3)
                .body("json")
                .size("200B")
                .properties(raw(properties)),
        )
        .duration("30s");
    bench.run_on(broker(), write, "").code(0);
    let seen = looking.ended();
    let expected = [
        ("content-type", json!("application/json")),
        ("correlation-id", json!("c")),
        ("reply-to", json!("r/s")),
        ("headers", json!({ "a": "ü", "b": "" })),
        ("stamp", json!(12)),
    ];
    for (key, expected) in expected {
        assert_eq!(seen[key], expected, "{key} of {seen:#}");
    }
    assert!(seen["expiration"].as_u64().is_some_and(|seconds| (50..=60).contains(&seconds)));
    assert!(seen["body"].as_object().is_some_and(|body| !body.is_empty()), "{seen:#}");
}

/// The stamp is a user property, which the other protocols have as a header or a property of the application.
#[test]
fn documents_are_measured_and_checked_by_all_readers() {
    if !has_version_five() {
        return not_run("the broker does not speak MQTT 5");
    }
    let bench = Workbench::new("mqtt-documents");
    let bound = |name: &str| Queue::new(name).bound("amq.topic", "documents.#");
    let scenario = Scenario::new("mqtt-documents")
        .queues(bound("documents-1"))
        .queues(bound("documents-2"))
        .publishers(
            publishers("documents/a/b")
                .mqtt_version("5")
                .count(2)
                .messages(500)
                .body("json")
                .size("300B"),
        )
        .consumers(readers(&["documents/#"]).mqtt_version("5").name("mqtt").messages(1000))
        .consumers(Consumers::new("documents-1").name("0-9-1").prefetch(100).messages(1000))
        .consumers(
            Consumers::new("documents-2")
                .protocol("amqp-1.0")
                .name("1.0")
                .prefetch(100)
                .messages(1000),
        )
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    let all = "Of 1000 accepted messages 0 lost, 0 duplicates, 0 out of order";
    assert!(text.contains(all), "{text}");
    let run = bench.json("out/run.json");
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 3000);
    assert_eq!(count(&run, "consumed-item-bytes"), 3 * 1000 * 300);
}
