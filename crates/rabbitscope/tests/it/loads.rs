//! The load's own figures equal the broker's, also after errors.

use std::{thread, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::workbench::{
    Ended, Workbench, eventually, existing_broker, lines, own_broker, queues_on, scenario, signal,
};

/// Runs `text` on the shared broker and returns the run record.
#[track_caller]
pub(crate) fn run(bench: &Workbench, text: &str, code: i32) -> Value {
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out --json")).code(code);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

#[track_caller]
pub(crate) fn count(run: &Value, key: &str) -> u64 {
    run["load"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

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
    let text = r#"
name = "counts"
[[queues]]
name = "counts"
[[publishers]]
queue = "counts"
count = 5
channels = 2
messages = 2000
confirm-window = 64
size = "1MiB"
[[consumers]]
queue = "counts"
count = 2
prefetch = 50
multi-ack-every = 7
messages = 5000
"#;
    // Bodies of 1 MiB come in pieces; 100 of them suffice.
    let big = text.replace("2000", "20").replace("5000", "50");
    let of_big = run(&bench, &big, 0);
    assert_eq!(count(&of_big, "published"), 100);
    assert_eq!(count(&of_big, "consumed"), 100);
    assert!(count(&of_big, "bytes-read") > 100 << 20, "{of_big:#}");

    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let of_small = run(&bench, &text.replace("1MiB", "20B"), 0);
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
    let text = r#"
name = "mandatory"
[[publishers]]
exchange = "amq.direct"
routing-key = "nowhere"
mandatory = true
confirm-window = 10
messages = 500
size = "5B"
"#;
    let run = run(&bench, text, 0);
    assert_eq!(count(&run, "returned"), 500);
    assert_eq!(count(&run, "confirmed"), 500);
}

#[test]
fn messages_go_through_a_binding() {
    let bench = Workbench::new("binding");
    let text = r#"
name = "binding"
[[queues]]
name = "bound"
bindings = [{ exchange = "amq.topic", routing-key = "a.*" }]
[[publishers]]
exchange = "amq.topic"
routing-key = "a.b"
mandatory = true
messages = 500
[[consumers]]
queue = "bound"
prefetch = 100
messages = 500
"#;
    let run = run(&bench, text, 0);
    assert_eq!(count(&run, "consumed"), 500);
    assert_eq!(count(&run, "returned"), 0);
}

#[test]
fn a_binding_to_no_exchange_takes_the_queue_back() {
    let bench = Workbench::new("unbound");
    let bindings = "bindings = [{ exchange = \"nowhere\" }]\n[[publishers]]";
    bench.file("s.toml", &scenario("unbound", "1s").replace("[[publishers]]", bindings));
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(1);
    ended.says(&["unbound", "nowhere"]);
    assert!(!queues_on(existing_broker()).contains("unbound"));
}

#[test]
fn a_queue_that_was_there_is_used_and_stays() {
    declare("was-there", true);
    let bench = Workbench::new("was-there");
    let run = run(&bench, &scenario("was-there", "1s"), 0);
    assert!(count(&run, "consumed") > 0);
    assert!(queues_on(existing_broker()).contains("was-there"));
}

#[test]
fn a_queue_that_does_not_fit_is_refused() {
    declare("unfit", false);
    let bench = Workbench::new("unfit");
    bench.file("s.toml", &scenario("unfit", "1s"));
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(1);
    ended.says(&["unfit", "durable"]);
    assert!(queues_on(existing_broker()).contains("unfit"));
}

#[test]
fn a_queue_deleted_in_the_middle_ends_the_run() {
    let bench = Workbench::new("deleted");
    bench.file("s.toml", &scenario("deleted", "60s"));
    let uri = existing_broker().uri();
    let running = bench.start(&format!("run s.toml --uri {uri} --out out"));
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    let name = "rabbit_misc:r(<<\"/\">>, queue, <<\"deleted\">>)";
    let delete = format!(
        "{{ok, Q}} = rabbit_amqqueue:lookup({name}), \
         rabbit_amqqueue:delete(Q, false, false, <<\"test\">>)."
    );
    existing_broker().eval(&delete).unwrap();
    let ended = Ended::from(running.wait_with_output().unwrap()).code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted");
    assert!(count(&run, "confirmed") > 0, "what was recorded is kept: {run:#}");
}

#[test]
fn a_pause_of_the_broker_shows_in_the_latency() {
    let broker = own_broker();
    let bench = Workbench::new("pause");
    let text = scenario("pause", "6s") + "[expect]\nwithout-service = \"< 90%\"\n";
    bench.file("s.toml", &text);
    let running = bench.start(&format!("run s.toml --uri {} --out out", broker.uri()));
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    let pid = Pid::from_raw(broker.pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    thread::sleep(Duration::from_secs(2));
    kill_process(pid, Signal::CONT).unwrap();
    Ended::from(running.wait_with_output().unwrap()).code(0);
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
    let text = scenario("alarm", "6s") + "[expect]\nblocked = \"< 90%\"\n";
    bench.file("s.toml", &text);
    let running = bench.start(&format!("run s.toml --uri {} --out out", broker.uri()));
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.00001).").unwrap();
    thread::sleep(Duration::from_secs(1));
    broker.eval("vm_memory_monitor:set_vm_memory_high_watermark(0.4).").unwrap();
    Ended::from(running.wait_with_output().unwrap()).code(0);
    let run = bench.json("out/run.json");
    assert!(count(&run, "blocked-nanos") > 500_000_000, "{run:#}");
    assert!(count(&run, "alarm-nanos") > 500_000_000, "{run:#}");
    assert_eq!(run["verdict"]["kind"], "completed");
}

#[test]
fn an_exclusive_queue_goes_with_its_connection() {
    let bench = Workbench::new("exclusive");
    let text = r#"
name = "exclusive"
[run]
duration = "60s"
[[queues]]
name = "only-mine"
exclusive = true
durable = false
[[publishers]]
queue = "only-mine"
rate = 100
"#;
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let mut running = bench.start(&format!("run s.toml --uri {uri} --out out"));
    eventually("the queue is there", || queues_on(existing_broker()).contains("only-mine"));
    running.kill().unwrap();
    running.wait().unwrap();
    eventually("the queue is gone", || !queues_on(existing_broker()).contains("only-mine"));
}

#[test]
fn a_rate_is_held() {
    let bench = Workbench::new("rate");
    let text = scenario("rate", "5s").replace("rate = 2000", "rate = 5000");
    let run = run(&bench, &text, 0);
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
    let text = r#"
name = "writes"
[[queues]]
name = "writes"
[[publishers]]
queue = "writes"
messages = 20000
write = "per-message"
"#;
    let single = run(&bench, text, 0);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let batched = run(&bench, &text.replace("per-message", "batched"), 0);
    assert!(count(&single, "writes") >= 20_000, "{single:#}");
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
    let uri = existing_broker().uri();
    let text = scenario("shared", "60s").split("[[consumers]]").next().unwrap().to_owned();
    other.file("s.toml", &text);
    let running = other.start(&format!("run s.toml --uri {uri} --out out"));
    eventually("the other run publishes", || lines(&other.path("out/series.jsonl")) >= 1);
    let (head, _) = text.split_once("[[publishers]]").unwrap();
    let consumers = "[[consumers]]\nqueue = \"shared\"\nprefetch = 100\n";
    bench.file("s.toml", &format!("{}{consumers}", head.replace("60s", "1s")));
    bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0);
    let series = bench.read("out/series.jsonl");
    let rows = series.lines().map(|line| serde_json::from_str(line).unwrap());
    let drain: Vec<Value> = rows.filter(|row: &Value| row["draining"] == true).collect();
    let nanos: u64 = drain.iter().map(|row| row["interval-nanos"].as_u64().unwrap()).sum();
    assert!(nanos < 4_000_000_000, "{drain:#?}");
    signal(&running, Signal::INT);
    let _ = running.wait_with_output().unwrap();
}

/// Names file, line and key, as every refusal does; nothing starts.
#[test]
fn a_missing_body_is_refused_where_it_is_named() {
    let bench = Workbench::new("body");
    let text = scenario("body", "1s").replace("rate = 2000", "body-files = [\"s.toml\", \"none\"]");
    bench.file("s.toml", &text);
    let line = 1 + text.lines().position(|line| line.contains("none")).unwrap();
    let place = format!("s.toml:{line}: `publishers.0.body-files.1`");
    bench.rabbitscope("run s.toml --out out").code(2).says(&[&place, "cannot read the file none"]);
    assert!(!bench.path("out").exists());
}
