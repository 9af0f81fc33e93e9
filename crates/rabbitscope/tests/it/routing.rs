//! Exchanges, bindings, sets of queues and the contents of messages on a live broker.

use std::time::{Duration, Instant};

use rabbitscope_amqp::{Event, Properties, Request, Uri, blocking::Client};
use rustix::process::Signal;

use crate::{
    loads::{count, run},
    workbench::{Workbench, eventually, existing_broker, lines, queues_on, signal},
};

#[test]
fn a_fanout_exchange_copies_to_every_queue() {
    let bench = Workbench::new("fanout");
    let text = r#"
name = "fanout"
[[exchanges]]
name = "rs.fan"
type = "fanout"
[[queues]]
name = "rs.fan-{}"
to = 3
bindings = [{ exchange = "rs.fan" }]
[[publishers]]
exchange = "rs.fan"
confirm-window = 50
messages = 300
[[consumers]]
queue = "rs.fan-{}"
count = 3
prefetch = 50
messages = 300
"#;
    let run = run(&bench, text, 0);
    assert_eq!((count(&run, "published"), count(&run, "consumed")), (300, 900));
    assert!(!queues_on(existing_broker()).contains("rs.fan"));
    assert!(!exchanges().contains("rs.fan"), "{}", exchanges());
}

#[test]
fn keys_and_bound_exchanges_route() {
    let bench = Workbench::new("topic");
    let text = r#"
name = "topic"
[[exchanges]]
name = "rs.entry"
type = "direct"
auto-delete = true
[[exchanges]]
name = "rs.topic"
type = "topic"
durable = false
bindings = [
  { exchange = "rs.entry", routing-key = "k.1.a" },
  { exchange = "rs.entry", routing-key = "k.4.b" },
]
[[queues]]
name = "rs.topic-{}"
to = 4
bindings = [{ exchange = "rs.topic", routing-key = "k.{}.*" }]
[[publishers]]
exchange = "rs.entry"
routing-keys = ["k.1.a", "k.4.b", "k.2.c"]
mandatory = true
confirm-window = 10
messages = 300
[[consumers]]
queue = "rs.topic-{}"
prefetch = 50
messages = 200
"#;
    let run = run(&bench, text, 0);
    assert_eq!((count(&run, "consumed"), count(&run, "returned")), (200, 100));
}

#[test]
fn a_headers_exchange_looks_at_the_properties() {
    let bench = Workbench::new("headers");
    let text = r#"
name = "headers"
[[exchanges]]
name = "rs.headers"
type = "headers"
[[queues]]
name = "rs.headers"
bindings = [{ exchange = "rs.headers", arguments = { x-match = "all", kind = "a", level = 3 } }]
[[publishers]]
exchange = "rs.headers"
properties.headers = { kind = "a", level = 3 }
mandatory = true
messages = 100
[[publishers]]
exchange = "rs.headers"
properties.headers = { kind = "b", level = 3 }
mandatory = true
messages = 10
confirm-window = 5
[[consumers]]
queue = "rs.headers"
prefetch = 10
messages = 100
"#;
    let run = run(&bench, text, 0);
    assert_eq!((count(&run, "consumed"), count(&run, "returned")), (100, 10));
}

#[test]
fn five_hundred_queues_by_one_entry() {
    let bench = Workbench::new("many");
    let text = r#"
name = "many"
[[queues]]
name = "rs.many-{:03}"
from = 0
to = 499
durable = false
[[publishers]]
queue = "rs.many-{:03}"
messages = 1000
confirm-window = 200
[[consumers]]
queue = "rs.many-{:03}"
count = 5
prefetch = 50
messages = 200
"#;
    let began = Instant::now();
    let run = run(&bench, text, 0);
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (1000, 1000));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(!queues_on(existing_broker()).contains("rs.many"));
}

#[test]
fn what_is_predeclared_must_be_there() {
    let bench = Workbench::new("predeclared");
    let text = r#"
name = "predeclared"
[[exchanges]]
name = "rs.nowhere"
predeclared = true
[[publishers]]
exchange = "rs.nowhere"
messages = 1
"#;
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(1);
    ended.says(&["rs.nowhere", "does not exist"]);
}

#[test]
fn an_exchange_that_a_killed_run_left_is_removed() {
    let bench = Workbench::new("left");
    let text = r#"
name = "left"
run.duration = "60s"
[[exchanges]]
name = "rs.left"
[[queues]]
name = "rs.left"
bindings = [{ exchange = "rs.left", routing-key = "k" }]
[[publishers]]
exchange = "rs.left"
routing-key = "k"
rate = 10
"#;
    bench.file("s.toml", text);
    let arguments = format!("run s.toml --uri {} --out", existing_broker().uri());
    let mut running = bench.start(&format!("{arguments} first"));
    eventually("a second is recorded", || lines(&bench.path("first/series.jsonl")) >= 1);
    signal(&running, Signal::KILL);
    running.wait().unwrap();
    assert!(exchanges().contains("rs.left"));
    let short =
        format!("{arguments} second --set run.duration=1s --remove-leftovers --assume-unbound");
    let ended = bench.rabbitscope(&short).code(0);
    assert!(
        ended.stderr.contains(
            "removed leftovers of an interrupted run: queue `rs.left`, exchange `rs.left`"
        ),
        "{ended:#?}"
    );
    assert!(!exchanges().contains("rs.left"));
}

#[test]
fn bodies_arrive_as_they_are() {
    let bench = Workbench::new("bodies");
    let files = [b"small".to_vec(), vec![7; 200_000]];
    for (name, body) in ["a.bin", "b.bin"].iter().zip(&files) {
        std::fs::write(bench.path(name), body).unwrap();
    }
    let text = r#"
name = "bodies"
[[queues]]
name = "rs.bodies"
keep = true
[[publishers]]
queue = "rs.bodies"
body-files = ["a.bin", "b.bin"]
messages = 3
confirm-window = 1
properties = { content-type = "application/octet-stream", priority = 3, expiration = "1h" }
"#;
    run(&bench, text, 0);
    for body in [&files[0], &files[1], &files[0]] {
        let (properties, got) = get("rs.bodies");
        assert!(got == *body, "{} bytes instead of {}", got.len(), body.len());
        assert_eq!(properties.content_type.as_deref(), Some("application/octet-stream"));
        assert_eq!(
            (properties.priority, properties.expiration.as_deref()),
            (Some(3), Some("3600000"))
        );
    }
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let json =
        text.replace("body-files = [\"a.bin\", \"b.bin\"]", "body = \"json\"\nsize = \"300B\"");
    run(&bench, &json, 0);
    let mut documents: Vec<_> = (0..3).map(|_| get("rs.bodies").1).collect();
    for document in &documents {
        assert_eq!(document.len(), 300);
        serde_json::from_slice::<serde_json::Value>(document).unwrap();
    }
    documents.dedup();
    assert_eq!(documents.len(), 3, "they differ");
    client()
        .call(1, &Request::QueueDelete { queue: "rs.bodies", if_unused: false, if_empty: false })
        .unwrap();
}

#[test]
fn latency_is_measured_when_the_stamp_is_in_a_header() {
    let bench = Workbench::new("stamp");
    let text = r#"
name = "stamp"
[[queues]]
name = "rs.stamp"
[[publishers]]
queue = "rs.stamp"
body = "json"
sizes = [{ size = "20B", for = "1s" }, { size = "2KiB", for = "1s" }]
messages = 200
[[consumers]]
queue = "rs.stamp"
prefetch = 10
messages = 200
"#;
    let run = run(&bench, text, 0);
    let latencies = run["latencies"].as_array().unwrap();
    let latency = latencies.iter().find(|latency| latency["name"] == "end-to-end").unwrap();
    assert_eq!(latency["count"], 200, "{latency:#}");
}

fn exchanges() -> String {
    existing_broker().eval("[element(4, Name) || Name <- rabbit_exchange:list_names()]").unwrap()
}

/// Returns a client with channel 1.
fn client() -> Client {
    let uri = Uri::parse(&existing_broker().uri()).unwrap();
    let mut client = Client::connect(&uri, "test", Duration::from_secs(10)).unwrap();
    assert_eq!(client.open_channel().unwrap(), 1);
    client
}

/// Takes the first message.
fn get(queue: &str) -> (Properties, Vec<u8>) {
    let mut client = client();
    client.send(1, &Request::Get { queue, auto_ack: true });
    let got = client.wait(|event| match event {
        Event::Got { delivery, .. } => {
            let properties = Properties::parse(&delivery.properties).unwrap();
            Some(Ok(Some((properties, delivery.body.into_owned()))))
        }
        Event::GetEmpty { .. } => Some(Ok(None)),
        _ => None,
    });
    let message = got.unwrap().expect("a message");
    client.close().unwrap();
    message
}

/// Queues of a set differ in the arguments of their bindings, and in their own.
#[test]
fn numbers_take_their_place_in_arguments() {
    let bench = Workbench::new("arguments");
    let text = r#"
name = "arguments"
[[queues]]
name = "rs.arguments-{}"
to = 2
arguments = { x-max-length = 1000, x-dead-letter-exchange = "", x-dead-letter-routing-key = "rs.dead-{:02}" }
bindings = [{ exchange = "amq.headers", arguments = { x-match = "all", shard = "{}" } }]
[[queues]]
name = "rs.dead-{:02}"
to = 2
[[publishers]]
exchange = "amq.headers"
properties = { headers = { shard = "1" } }
mandatory = true
messages = 100
[[publishers]]
exchange = "amq.headers"
properties = { headers = { shard = "2" } }
mandatory = true
messages = 200
[[consumers]]
queue = "rs.arguments-{}"
count = 2
prefetch = 10
nack = true
requeue = false
[[consumers]]
name = "dead-1"
queue = "rs.dead-01"
messages = 100
[[consumers]]
name = "dead-2"
queue = "rs.dead-02"
messages = 200
[run]
duration = "5s"
"#;
    let run = run(&bench, text, 0);
    assert_eq!((count(&run, "published"), count(&run, "returned")), (300, 0), "{run:#}");
    assert_eq!(count(&run, "consumed"), 600, "each once, and once dead: {run:#}");
}

#[test]
fn consumers_that_get_nothing_are_spoken_of() {
    let bench = Workbench::new("nothing");
    let text = r#"
name = "nothing"
queues = [{ name = "rs.nothing", bindings = [{ exchange = "amq.direct", routing-key = "right" }] }]
publishers = [{ exchange = "amq.direct", routing-key = "wrong", rate = 20 }]
consumers = [{ queue = "rs.nothing" }]
run = { duration = "2s" }
"#;
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let text = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0).stdout;
    assert!(text.contains("NOTHING CONSUMED: consumers received none of 4"), "{text}");
    let line = format!("run s.toml --uri {uri} --out short --set run.duration=300ms");
    let text = bench.rabbitscope(&line).code(0).stdout;
    assert!(text.contains("too short to judge"), "{text}");
    assert!(!text.contains("NOTHING CONSUMED"), "{text}");
}
