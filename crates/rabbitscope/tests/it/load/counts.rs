//! The load's own figures equal the broker's, also after errors.

use std::{thread, time::Duration};

use rabbitscope_testing::{
    Ends, Stops, Workbench, count, delete_queue, eventually, existing_broker, own_broker, pause,
    queues_on,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;
use serde_json::Value;

fn declare(queue: &str, durable: bool) {
    let declared = existing_broker().eval(&format!(
        "rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), {durable}, \
         false, [], none, <<\"test\">>)"
    ));
    assert!(declared.unwrap().contains("new"));
}

#[test]
fn every_message_is_accounted_for() {
    let bench = Workbench::new("counts");
    let load = |messages: i32, size: &str| {
        let publishers = Publishers::new("counts").count(5).channels(2).messages(messages);
        let consumers = Consumers::new("counts").count(2).prefetch(50).multi_ack_every(7);
        Scenario::with_queue("counts")
            .publishers(publishers.confirm_window(64).size(size))
            .consumers(consumers.messages(5 * messages / 2))
    };
    // Bodies of 1 MiB come in pieces; 100 of them suffice.
    let of_big = bench.record(load(20, "1MiB"), 0);
    assert_eq!(count(&of_big, "published"), 100);
    assert_eq!(count(&of_big, "consumed"), 100);
    assert!(count(&of_big, "bytes-read") > 100 << 20, "{of_big:#}");

    let of_small = bench.record(load(2000, "20B"), 0);
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&of_small, key), 10_000, "{key}");
    }
    assert_eq!(count(&of_small, "unconfirmed"), 0);
    for latency in of_small["latencies"].as_array().unwrap() {
        assert_eq!(latency["count"], 10_000, "{latency}");
    }
    assert!(!queues_on(existing_broker()).contains("counts"));
}

#[test]
fn messages_without_a_queue_come_back() {
    let bench = Workbench::new("mandatory");
    let text = Scenario::new("mandatory").publishers(
        Publishers::through("amq.direct", "nowhere")
            .mandatory(true)
            .confirm_window(10)
            .messages(500)
            .size("5B"),
    );
    let run = bench.record(text, 0);
    assert_eq!(count(&run, "returned"), 500);
    assert_eq!(count(&run, "confirmed"), 500);
}

#[test]
fn messages_go_through_a_binding() {
    let bench = Workbench::new("binding");
    let text = Scenario::new("binding")
        .queues(Queue::new("bound").bound("amq.topic", "a.*"))
        .publishers(Publishers::through("amq.topic", "a.b").mandatory(true).messages(500))
        .consumers(Consumers::new("bound").prefetch(100).messages(500));
    let run = bench.record(text, 0);
    assert_eq!(count(&run, "consumed"), 500);
    assert_eq!(count(&run, "returned"), 0);
}

#[test]
fn a_binding_to_no_exchange_takes_the_queue_back() {
    let bench = Workbench::new("unbound");
    let unbound =
        Scenario::steady("unbound", "1s").change_queue(|queue| queue.bound("nowhere", ""));
    let ended = bench.run(unbound).code(1);
    ended.says(&["unbound", "nowhere"]);
    assert!(!queues_on(existing_broker()).contains("unbound"));
}

#[test]
fn a_queue_that_was_there_is_used_and_stays() {
    declare("was-there", true);
    let bench = Workbench::new("was-there");
    let run = bench.record(Scenario::steady("was-there", "1s"), 0);
    assert!(count(&run, "consumed") > 0);
    assert!(queues_on(existing_broker()).contains("was-there"));
}

#[test]
fn a_queue_that_does_not_fit_is_refused() {
    declare("unfit", false);
    let bench = Workbench::new("unfit");
    let ended = bench.run(Scenario::steady("unfit", "1s")).code(1);
    ended.says(&["unfit", "durable"]);
    assert!(queues_on(existing_broker()).contains("unfit"));
}

#[test]
fn a_queue_deleted_in_the_middle_ends_the_run() {
    let bench = Workbench::new("deleted");
    let running = bench.start_run(existing_broker(), Scenario::steady("deleted", "60s"), 1);
    delete_queue(existing_broker(), "deleted");
    let ended = running.ended().code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted");
    assert!(count(&run, "confirmed") > 0, "what was recorded is kept: {run:#}");
}

#[test]
fn a_pause_of_the_broker_shows_in_the_latency() {
    let broker = own_broker();
    let bench = Workbench::new("pause");
    let text = Scenario::steady("pause", "6s").expect("without-service", "< 90%");
    let running = bench.start_run(&broker, &text, 1);
    pause(broker.pid, Duration::from_secs(2));
    running.ended().code(0);
    let run = bench.json("out/run.json");
    let confirm = &run["latencies"].as_array().unwrap()[0];
    let max = confirm["max"].as_u64().unwrap();
    assert!((1_900_000_000..4_000_000_000).contains(&max), "{confirm:#}");
    assert_eq!(run["verdict"]["kind"], "completed", "as the scenario expects it: {run:#}");
}

#[test]
fn an_alarm_blocks_and_is_counted() {
    let broker = own_broker();
    let bench = Workbench::new("alarm");
    let text = Scenario::steady("alarm", "6s").expect("blocked", "< 90%");
    let running = bench.start_run(&broker, &text, 1);
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.00001).").unwrap();
    thread::sleep(Duration::from_secs(1));
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.4).").unwrap();
    running.ended().code(0);
    let run = bench.json("out/run.json");
    assert!(count(&run, "blocked-nanos") > 500_000_000, "{run:#}");
    assert!(count(&run, "alarm-nanos") > 500_000_000, "{run:#}");
    assert_eq!(run["verdict"]["kind"], "completed");
}

#[test]
fn an_exclusive_queue_goes_with_its_connection() {
    let bench = Workbench::new("exclusive");
    let text = Scenario::new("exclusive")
        .queues(Queue::new("only-mine").exclusive(true).durable(false))
        .publishers(Publishers::new("only-mine").rate(100))
        .duration("60s");
    let running = bench.start_run(existing_broker(), text, 0);
    eventually("the queue is there", || queues_on(existing_broker()).contains("only-mine"));
    running.killed();
    eventually("the queue is gone", || !queues_on(existing_broker()).contains("only-mine"));
}

#[test]
fn a_rate_is_held() {
    let bench = Workbench::new("rate");
    let text = Scenario::steady("rate", "5s").change_publishers(|group| group.rate(5000));
    let run = bench.record(&text, 0);
    let [published, scheduled, dropped] =
        ["published", "scheduled", "dropped"].map(|key| count(&run, key));
    assert!((24_500..=25_500).contains(&scheduled), "{scheduled} in 5 s at 5000/s: {run:#}");
    // A publisher that is late at the end of the load, and has no room for all messages, leaves some out.
    assert_eq!(published + dropped, scheduled);
    assert!(dropped <= scheduled / 10, "{dropped} of {scheduled}");
}

#[test]
fn each_message_can_have_a_write_of_its_own() {
    let bench = Workbench::new("writes");
    let [single, batched, framed] = ["per-message", "batched", "per-frame"].map(|write| {
        let publishers = Publishers::new("writes").messages(20_000).write(write);
        bench.record(Scenario::with_queue("writes").publishers(publishers), 0)
    });
    assert!(count(&single, "writes") >= 20_000, "{single:#}");
    // Method, header and body.
    assert!((60_000..63_000).contains(&count(&framed, "writes")), "{framed:#}");
    assert!(count(&batched, "writes") < 5_000, "{batched:#}");
    // They differ by barriers only, of 13 bytes each: at most one follows 16 messages.
    let bytes = count(&single, "bytes-written").abs_diff(count(&batched, "bytes-written"));
    assert_eq!(bytes % 13, 0, "{single:#} {batched:#}");
    assert!(bytes / 13 <= 20_000 / 16, "{single:#} {batched:#}");
}

/// The run has nothing of its own to wait for, however long the other run lasts.
#[test]
fn what_others_publish_does_not_hold_up_the_end() {
    let (bench, other) = (Workbench::new("own"), Workbench::new("other"));
    let publishers = Scenario::steady("shared", "60s").without("consumers");
    let running = other.start_run(existing_broker(), publishers, 1);
    bench.run(Scenario::steady("shared", "1s").without("publishers")).code(0);
    let rows = bench.rows("out/series.jsonl").into_iter();
    let drain: Vec<Value> = rows.filter(|row: &Value| row["draining"] == true).collect();
    let nanos: u64 = drain.iter().map(|row| row["interval-nanos"].as_u64().unwrap()).sum();
    assert!(nanos < 4_000_000_000, "{drain:#?}");
    running.ended_by(Signal::INT);
}

/// Names file, line and key, as every refusal does; nothing starts.
#[test]
fn a_missing_body_is_refused_where_it_is_named() {
    let bench = Workbench::new("body");
    let files = vec!["s.toml", "none"];
    let text = Scenario::steady("body", "1s").change_publishers(|group| group.body_files(files));
    bench.file("s.toml", &text);
    let text = text.to_string();
    let line = 1 + text.lines().position(|line| line.contains("none")).unwrap();
    let place = format!("s.toml:{line}: `publishers.0.body-files.1`");
    bench.rabbitscope("run s.toml --out out").code(2).says(&[&place, "cannot read the file none"]);
    assert!(!bench.path("out").exists());
}
