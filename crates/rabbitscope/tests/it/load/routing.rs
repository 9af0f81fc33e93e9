//! Exchanges, bindings, sets of queues and the contents of messages on a live broker.

use std::time::{Duration, Instant};

use rabbitscope_amqp::{Properties, Request};
use rabbitscope_testing::{
    Stops, Workbench, connect, count, exchanges_on, existing_broker, latency_figure, queues_on,
    scenario::{Consumers, Exchange, Publishers, Queue, Scenario, raw},
    take,
};

#[test]
fn a_fanout_exchange_copies_to_every_queue() {
    let bench = Workbench::new("fanout");
    let text = Scenario::new("fanout")
        .exchanges(Exchange::new("rs.fan").of_type("fanout"))
        .queues(Queue::new("rs.fan-{}").to(3).bound("rs.fan", ""))
        .publishers(Publishers::through("rs.fan", "").confirm_window(50).messages(300))
        .consumers(Consumers::new("rs.fan-{}").count(3).prefetch(50).messages(300));
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "published"), count(&run, "consumed")), (300, 900));
    assert!(!queues_on(existing_broker()).contains("rs.fan"));
    assert!(!exchanges_on(existing_broker()).contains("rs.fan"));
}

#[test]
fn keys_and_bound_exchanges_route() {
    let bench = Workbench::new("topic");
    let text = Scenario::new("topic")
        .exchanges(Exchange::new("rs.entry").of_type("direct").auto_delete(true))
        .exchanges(
            Exchange::new("rs.topic")
                .of_type("topic")
                .durable(false)
                .bound("rs.entry", &["k.1.a", "k.4.b"]),
        )
        .queues(Queue::new("rs.topic-{}").to(4).bound("rs.topic", "k.{}.*"))
        .publishers(
            Publishers::through("rs.entry", "")
                .routing_keys(vec!["k.1.a", "k.4.b", "k.2.c"])
                .mandatory(true)
                .confirm_window(10)
                .messages(300),
        )
        .consumers(Consumers::new("rs.topic-{}").prefetch(50).messages(200));
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "consumed"), count(&run, "returned")), (200, 100));
}

#[test]
fn a_headers_exchange_looks_at_the_properties() {
    let bench = Workbench::new("headers");
    let binding =
        r#"{ exchange = "rs.headers", arguments = { x-match = "all", kind = "a", level = 3 } }"#;
    let publishers = |kind: &str| {
        let headers = format!("{{ headers = {{ kind = \"{kind}\", level = 3 }} }}");
        Publishers::through("rs.headers", "").properties(raw(&headers)).mandatory(true)
    };
    let text = Scenario::new("headers")
        .exchanges(Exchange::new("rs.headers").of_type("headers"))
        .queues(Queue::new("rs.headers").bindings(raw(&format!("[{binding}]"))))
        .publishers(publishers("a").messages(100))
        .publishers(publishers("b").messages(10).confirm_window(5))
        .consumers(Consumers::new("rs.headers").prefetch(10).messages(100));
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "consumed"), count(&run, "returned")), (100, 10));
}

#[test]
fn five_hundred_queues_by_one_entry() {
    let bench = Workbench::new("many");
    let text = Scenario::new("many")
        .queues(Queue::new("rs.many-{:03}").from(0).to(499).durable(false))
        .publishers(Publishers::new("rs.many-{:03}").messages(1000).confirm_window(200))
        .consumers(Consumers::new("rs.many-{:03}").count(5).prefetch(50).messages(200));
    let began = Instant::now();
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (1000, 1000));
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(!queues_on(existing_broker()).contains("rs.many"));
}

#[test]
fn what_is_predeclared_must_be_there() {
    let bench = Workbench::new("predeclared");
    let text = Scenario::new("predeclared")
        .exchanges(Exchange::new("rs.nowhere").predeclared(true))
        .publishers(Publishers::through("rs.nowhere", "").messages(1));
    let ended = bench.run(text).code(1);
    ended.says(&["rs.nowhere", "does not exist"]);
}

#[test]
fn an_exchange_that_a_killed_run_left_is_removed() {
    let bench = Workbench::new("left");
    let text = Scenario::new("left")
        .exchanges(Exchange::new("rs.left"))
        .queues(Queue::new("rs.left").bound("rs.left", "k"))
        .publishers(Publishers::through("rs.left", "k").rate(10))
        .duration("60s");
    bench.file("s.toml", text);
    let arguments = format!("run s.toml --uri {} --out", existing_broker().uri());
    let running = bench.start(&format!("{arguments} first"));
    bench.await_seconds("first", 1);
    running.killed();
    assert!(exchanges_on(existing_broker()).contains("rs.left"));
    let short =
        format!("{arguments} second --set run.duration=1s --remove-leftovers --assume-unbound");
    let ended = bench.rabbitscope(&short).code(0);
    assert!(
        ended.stderr.contains(
            "removed leftovers of an interrupted run: queue `rs.left`, exchange `rs.left`"
        ),
        "{ended:#?}"
    );
    assert!(!exchanges_on(existing_broker()).contains("rs.left"));
}

#[test]
fn bodies_arrive_as_they_are() {
    let bench = Workbench::new("bodies");
    let files = [b"small".to_vec(), vec![7; 200_000]];
    for (name, body) in ["a.bin", "b.bin"].iter().zip(&files) {
        std::fs::write(bench.path(name), body).unwrap();
    }
    let properties =
        r#"{ content-type = "application/octet-stream", priority = 3, expiration = "1h" }"#;
    let load = |publishers: Publishers| {
        let publishers = publishers.messages(3).confirm_window(1).properties(raw(properties));
        Scenario::new("bodies").queues(Queue::new("rs.bodies").keep(true)).publishers(publishers)
    };
    let publishers = Publishers::new("rs.bodies");
    bench.record(load(publishers.clone().body_files(vec!["a.bin", "b.bin"])), 0);
    for body in [&files[0], &files[1], &files[0]] {
        let (properties, got) = get("rs.bodies");
        assert!(got == *body, "{} bytes instead of {}", got.len(), body.len());
        assert_eq!(properties.content_type.as_deref(), Some("application/octet-stream"));
        assert_eq!(
            (properties.priority, properties.expiration.as_deref()),
            (Some(3), Some("3600000"))
        );
    }
    bench.record(load(publishers.body("json").size("300B")), 0);
    let mut documents: Vec<_> = (0..3).map(|_| get("rs.bodies").1).collect();
    for document in &documents {
        assert_eq!(document.len(), 300);
        serde_json::from_slice::<serde_json::Value>(document).unwrap();
    }
    documents.dedup();
    assert_eq!(documents.len(), 3, "they differ");
    let (mut client, channel) = connect(&existing_broker().uri());
    client
        .call(
            channel,
            &Request::QueueDelete { queue: "rs.bodies", if_unused: false, if_empty: false },
        )
        .unwrap();
}

#[test]
fn latency_is_measured_when_the_stamp_is_in_a_header() {
    let bench = Workbench::new("stamp");
    let sizes = raw(r#"[{ size = "20B", for = "1s" }, { size = "2KiB", for = "1s" }]"#);
    let text = Scenario::with_queue("rs.stamp")
        .publishers(Publishers::new("rs.stamp").body("json").sizes(sizes).messages(200))
        .consumers(Consumers::new("rs.stamp").prefetch(10).messages(200));
    let run = bench.record(text, 0);
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 200, "{run:#}");
}

/// Takes the first message.
fn get(queue: &str) -> (Properties, Vec<u8>) {
    let (mut client, channel) = connect(&existing_broker().uri());
    let message = take(&mut client, channel, queue).expect("a message");
    client.close().unwrap();
    message
}

/// Queues of a set differ in the arguments of their bindings, and in their own.
#[test]
fn numbers_take_their_place_in_arguments() {
    let bench = Workbench::new("arguments");
    let arguments = r#"{ x-max-length = 1000, x-dead-letter-exchange = "", x-dead-letter-routing-key = "rs.dead-{:02}" }"#;
    let bindings =
        r#"[{ exchange = "amq.headers", arguments = { x-match = "all", shard = "{}" } }]"#;
    let publishers = |shard: &str| {
        let headers = format!("{{ headers = {{ shard = \"{shard}\" }} }}");
        Publishers::through("amq.headers", "").properties(raw(&headers)).mandatory(true)
    };
    let text = Scenario::new("arguments")
        .queues(
            Queue::new("rs.arguments-{}").to(2).arguments(raw(arguments)).bindings(raw(bindings)),
        )
        .queues(Queue::new("rs.dead-{:02}").to(2))
        .publishers(publishers("1").messages(100))
        .publishers(publishers("2").messages(200))
        .consumers(
            Consumers::new("rs.arguments-{}").count(2).prefetch(10).nack(true).requeue(false),
        )
        .consumers(Consumers::new("rs.dead-01").name("dead-1").messages(100))
        .consumers(Consumers::new("rs.dead-02").name("dead-2").messages(200))
        .duration("5s");
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "published"), count(&run, "returned")), (300, 0), "{run:#}");
    assert_eq!(count(&run, "consumed"), 600, "each once, and once dead: {run:#}");
}

#[test]
fn consumers_that_get_nothing_are_spoken_of() {
    let bench = Workbench::new("nothing");
    let scenario = Scenario::new("nothing")
        .queues(Queue::new("rs.nothing").bound("amq.direct", "right"))
        .publishers(Publishers::through("amq.direct", "wrong").rate(20))
        .consumers(Consumers::new("rs.nothing"))
        .duration("2s");
    let text = bench.run(&scenario).code(0).stdout;
    assert!(text.contains("NOTHING CONSUMED: consumers received none of 4"), "{text}");
    let short = "--set run.duration=300ms";
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let text = bench.run_with(&scenario, short).code(0).stdout;
    assert!(text.contains("too short to judge"), "{text}");
    assert!(!text.contains("NOTHING CONSUMED"), "{text}");
}
