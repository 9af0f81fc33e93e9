//! Bodies, properties and headers of messages.

use rabbitscope_testing::{
    Workbench, count, latency_figure,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};
use serde_json::json;

use super::{broker, consumers, interoperation::proton, is_native, publishers};

/// Another client sees what the scenario says.
#[test]
fn properties_and_headers_arrive() {
    let bench = Workbench::new("amqp10-properties");
    let Some(client) = proton(&bench) else { return };
    let (user, _) = broker().login();
    let properties = format!(
        "{{ content-type = \"application/json\", content-encoding = \"identity\", priority = 7, \
         correlation-id = \"c\", reply-to = \"/queues/r\", expiration = \"60s\", message-id = \"m\", \
         timestamp = 1700000000, user-id = \"{user}\", subject = \"s\", group-id = \"g\", headers = {{ \
         text = \"ü\", number = -5, share = 0.5, flag = true, x-stream-filter-value = \"v\" }} }}"
    );
    let scenario = Scenario::new("amqp10-properties")
        .queues(Queue::new("looked-at").keep(true))
        .publishers(
            publishers("looked-at")
                .messages(3)
                .body("json")
                .size("200B")
                .persistent(true)
                .confirm_window(10)
                .properties(raw(&properties)),
        )
        .duration("30s");
    bench.run_on(broker(), scenario, "").code(0);
    let seen = client.run(&["look", "looked-at"]);
    let headers = json!({ "text": "ü", "number": -5, "share": 0.5, "flag": true });
    let everywhere = [
        ("durable", json!(true)),
        ("priority", json!(7)),
        ("message-id", json!("m")),
        ("correlation-id", json!("c")),
        ("content-type", json!("application/json")),
        ("content-encoding", json!("identity")),
        ("headers", headers),
        ("stamp", json!(12)),
    ];
    for (key, expected) in everywhere {
        assert_eq!(seen[key], expected, "{key} of {seen:#}");
    }
    assert!(seen["body"].as_object().is_some_and(|body| !body.is_empty()), "{seen:#}");
    if is_native() {
        let further = [
            ("ttl", json!(60.0)),
            ("user-id", json!(user)),
            ("subject", json!("s")),
            ("reply-to", json!("/queues/r")),
            ("group-id", json!("g")),
            ("creation-time", json!(1_700_000_000.0)),
            ("annotation", json!("v")),
        ];
        for (key, expected) in further {
            assert_eq!(seen[key], expected, "{key} of {seen:#}");
        }
    }
}

/// The stamp is in a header, whichever protocol writes and whichever reads. But the plugin of 3.x drops byte arrays.
#[test]
fn documents_and_files_are_measured_and_checked() {
    let bench = Workbench::new("amqp10-bodies");
    bench.file("a.bin", "not a stamp, and no document".repeat(8000));
    bench.file("b.bin", "");
    let files = toml::Value::Array(vec!["a.bin".into(), "b.bin".into()]);
    let scenario = Scenario::new("amqp10-bodies")
        .queues(Queue::new("bodies-1"))
        .queues(Queue::new("bodies-2"))
        .queues(Queue::new("bodies-3"))
        .publishers(
            publishers("bodies-1")
                .name("documents")
                .count(2)
                .messages(500)
                .body("json")
                .size("300B")
                .confirm_window(100),
        )
        .publishers(
            publishers("bodies-2").name("files").messages(40).body_files(files).confirm_window(100),
        )
        .publishers(
            Publishers::new(if is_native() { "bodies-1" } else { "bodies-3" })
                .name("by 0-9-1")
                .messages(500)
                .body("json")
                .size("300B")
                .confirm_window(100),
        )
        .consumers(consumers("bodies-1").name("1.0").prefetch(100))
        .consumers(Consumers::new("bodies-2").name("0-9-1").prefetch(100))
        .consumers(Consumers::new("bodies-3").name("0-9-1 too").prefetch(100))
        .verify(true)
        .until("empty");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    let all = "Of 1540 accepted messages 0 lost, 0 duplicates, 0 out of order";
    assert!(text.contains(all), "{text}");
    let run = bench.json("out/run.json");
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 1540);
    assert_eq!(count(&run, "consumed-item-bytes"), 1500 * 300 + 20 * 28 * 8000);
}
