//! Churn keeps its rate, and leaves nothing behind.

use rabbitscope_testing::{
    Stops, Workbench, count, eventually, existing_broker, latency_figure, own_broker, queues_on,
    scenario::{Churn, Consumers, Publishers, Queue, Scenario, raw},
};
use serde_json::Value;

/// Returns the number of measurements of a latency.
#[track_caller]
fn measured(run: &Value, latency: &str) -> u64 {
    latency_figure(run, latency, "count")
}

#[test]
fn every_kind_keeps_its_rate_and_leaves_nothing() {
    let broker = own_broker();
    let bench = Workbench::new("churn");
    let kinds = ["connections", "channels", "queues", "bindings", "consumers"];
    let scenario = kinds.iter().fold(Scenario::new("churn").duration("4s"), |scenario, kind| {
        scenario.churn(Churn::new(kind).name(*kind).rate(20).hold("50ms"))
    });
    let run = bench.run_on(&broker, scenario, "--json").code(0).json();
    for kind in kinds {
        let opened = measured(&run, &format!("{kind}-open"));
        assert!((72..=88).contains(&opened), "{kind}: {opened} in 4 s at 20/s");
        assert_eq!(measured(&run, &format!("{kind}-close")), opened, "{kind}");
        assert!(bench.path(&format!("out/latency-{kind}-open.hlog")).exists());
    }
    assert_eq!(count(&run, "churn-opened"), count(&run, "churn-closed"));
    assert_eq!(count(&run, "churn-failed"), 0);
    assert!(bench.read("out/series.jsonl").contains("\"churn-open-latency\":{"));
    // Queues, bindings, connections and channels: all must be empty.
    let left = "{rabbit_amqqueue:list_names(), rabbit_binding:list(<<\"/\">>), \
                rabbit_networking:connections(), rabbit_channel:list()}";
    eventually("nothing is left", || broker.eval(left).unwrap().trim() == "{[],[],[],[]}");
}

#[test]
fn as_fast_as_it_goes_until_the_cycles_are_through() {
    let bench = Workbench::new("churn-cycles");
    let text = Scenario::new("cycles")
        .queues(Queue::new("churn-cycles").durable(false))
        .churn(Churn::new("connections").name("connections").concurrency(3).cycles(20))
        .churn(Churn::new("queues").name("quorum").of_type("quorum").concurrency(2).cycles(5))
        .churn(
            Churn::new("consumers")
                .name("consumers")
                .queue("churn-cycles")
                .concurrency(6)
                .connections(2)
                .cycles(50),
        );
    let run = bench.record(text, 0);
    for (group, cycles) in [("connections", 20), ("quorum", 5), ("consumers", 50)] {
        assert_eq!(measured(&run, &format!("{group}-open")), cycles, "{group}");
        assert_eq!(measured(&run, &format!("{group}-close")), cycles, "{group}");
    }
    assert_eq!((count(&run, "churn-opened"), count(&run, "churn-failed")), (75, 0));
    let queues = queues_on(existing_broker());
    for name in ["rabbitscope-churn-", "churn-cycles"] {
        assert!(!queues.contains(name), "{queues}");
    }
}

#[test]
fn consumers_that_come_and_go_lose_no_message() {
    let bench = Workbench::new("churn-consumers");
    let text = Scenario::new("consumers")
        .queues(Queue::new("churn-consumers").durable(false))
        .publishers(
            Publishers::new("churn-consumers").confirm_window(100).messages(2000).rate(2000),
        )
        .consumers(Consumers::new("churn-consumers").prefetch(10))
        .churn(
            Churn::new("consumers")
                .queue("churn-consumers")
                .concurrency(3)
                .hold("20ms")
                .cycles(200),
        )
        .duration("3s");
    let run = bench.record(text, 0);
    assert_eq!((count(&run, "published"), count(&run, "consumed")), (2000, 2000));
    assert!(count(&run, "churn-opened") > 50, "{run:#}");
}

#[test]
fn a_refusal_is_counted_with_the_brokers_words() {
    let bench = Workbench::new("churn-refused");
    let text = Scenario::new("refused")
        .churn(
            Churn::new("queues")
                .name("wrong")
                .concurrency(2)
                .arguments(raw("{ x-max-length = -5 }")),
        )
        .churn(Churn::new("channels").name("right").rate(10))
        .duration("2500ms");
    let run = bench.record(text, 0);
    // Each of two slots fails at once, and again after each second.
    assert!((2..=6).contains(&count(&run, "churn-failed")), "{run:#}");
    let loss = &run["losses"][0];
    assert!(loss["meaning"].as_str().unwrap().contains("x-max-length"), "{loss}");
    assert!(measured(&run, "right-close") > 20, "{run:#}");
}

#[test]
fn queues_of_a_killed_churn_are_removed_by_the_next_run() {
    let broker = &own_broker();
    let bench = Workbench::new("churn-killed");
    let text = Scenario::new("killed")
        .churn(Churn::new("queues").durable(true).concurrency(3).hold("30s"))
        .duration("60s");
    bench.file("s.toml", text);
    let arguments = format!("run s.toml --uri {} --out", broker.uri());
    let running = bench.start(&format!("{arguments} killed"));
    bench.await_seconds("killed", 1);
    running.killed();
    assert_eq!(queues_on(broker).matches("rabbitscope-churn-").count(), 3);
    let ended = bench.rabbitscope(&format!("{arguments} next --set run.duration=1s")).code(0);
    assert!(ended.stderr.contains("removed leftovers of"), "{ended:#?}");
    let queues = queues_on(broker);
    assert!(!queues.contains("rabbitscope-churn-"), "{queues}");
}
