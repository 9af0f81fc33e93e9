//! `run.verify` against the broker: an honest run is judged to be honest. Messages that are deliberately lost,
//! doubled or out of order are found.

use std::time::Duration;

use rabbitscope_amqp::{Event, Request, Uri, blocking::Client};
use serde_json::Value;

use crate::{
    loads::{count, run},
    publishing::PUBLISH,
    workbench::{Ended, Workbench, eventually, existing_broker, lines, own_broker},
};

#[track_caller]
fn found(run: &Value, key: &str) -> u64 {
    run["verification"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

/// Returns the counts of lost, duplicate, out-of-order and unjudged messages.
#[track_caller]
fn faults(run: &Value) -> [u64; 4] {
    ["lost", "duplicates", "out-of-order", "not-judged"].map(|key| found(run, key))
}

#[test]
fn an_honest_run_loses_nothing() {
    let bench = Workbench::new("honest");
    let text = r#"
name = "honest"
run = { until = "empty", verify = true }
expect = { lost = "== 0", duplicates = "== 0", out-of-order = "== 0" }
exchanges = [{ name = "honest", type = "topic" }]
queues = [
    { name = "honest-fan-1", bindings = [{ exchange = "honest", routing-key = "k.*" }] },
    { name = "honest-fan-2", bindings = [{ exchange = "honest", routing-key = "k.#" }] },
    { name = "honest-{}", to = 5 },
]
[[publishers]]
name = "fan"
exchange = "honest"
routing-key = "k.1"
count = 3
connections = 2
messages = 2000
confirm-window = 100
[[publishers]]
name = "spread"
queue = "honest-{}"
count = 3
messages = 2000
[[consumers]]
queue = "honest-fan-1"
count = 3
connections = 2
prefetch = 50
multi-ack-every = 7
[[consumers]]
name = "behind"
queue = "honest-fan-2"
rate = 5000
prefetch = 100
[[consumers]]
name = "polling"
queue = "honest-{}"
count = 2
polling = true
"#;
    let run = run(&bench, text, 0);
    assert_eq!(faults(&run), [0; 4], "{run:#}");
    assert_eq!((found(&run, "accepted"), found(&run, "still-queued")), (12_000, 0));
    assert_eq!(count(&run, "consumed"), 2 * 6_000 + 6_000);
    assert!(bench.read("out/report.html").contains("Of 12000 accepted messages 0 lost"));
}

#[test]
fn every_consumer_of_a_stream_gets_every_message() {
    let bench = Workbench::new("stream");
    let text = r#"
name = "stream"
run = { verify = true }
queues = [{ name = "verified-stream", type = "stream" }]
[[publishers]]
queue = "verified-stream"
count = 2
rate = 1000
messages = 2000
confirm-window = 500
[[consumers]]
queue = "verified-stream"
count = 2
prefetch = 500
arguments = { x-stream-offset = "first" }
[[consumers]]
name = "from now on"
queue = "verified-stream"
prefetch = 500
start-delay = "700ms"
"#;
    let run = run(&bench, text, 0);
    let [lost, duplicates, out_of_order, not_judged] = faults(&run);
    assert_eq!([lost, duplicates, out_of_order], [0; 3], "{run:#}");
    // Messages from before the third consumer are not owed to it. Messages from the time of its start cannot be
    // judged.
    assert!(not_judged < 100, "{run:#}");
    assert!((8_001..12_000).contains(&count(&run, "consumed")), "{run:#}");
}

/// A slow consumer, behind which messages pile up.
const SLOW: &str = r#"
name = "slow"
run = { duration = "2s", verify = true }
queues = [{ name = "slow" }]
[[publishers]]
queue = "slow"
rate = 1000
confirm-window = 500
[[consumers]]
queue = "slow"
rate = 300
prefetch = 20
"#;

#[test]
fn what_is_left_in_the_queue_is_not_lost() {
    let bench = Workbench::new("left");
    let run = run(&bench, &SLOW.replace("slow", "left").replace("= 300", "= 60"), 0);
    assert_eq!(faults(&run), [0; 4], "{run:#}");
    let left = count(&run, "confirmed") - count(&run, "consumed");
    assert!(left > 500, "{run:#}");
    assert_eq!(found(&run, "still-queued"), left, "{run:#}");
}

#[test]
fn what_is_purged_is_lost() {
    let bench = Workbench::new("purged");
    let text = SLOW.replace("slow", "purged").replace("\"2s\"", "\"4s\", until = \"empty\"");
    bench.file("s.toml", &format!("{text}\n[expect]\nlost = \"== 0\"\n"));
    let broker = existing_broker();
    let running = bench.start(&format!("run s.toml --uri {} --out out --json", broker.uri()));
    eventually("two seconds", || lines(&bench.path("out/series.jsonl")) >= 2);
    let purged = broker.eval(
        "{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"purged\">>)), \
         {ok, N} = rabbit_amqqueue:purge(Q), N",
    );
    let purged: u64 = purged.unwrap().trim().parse().unwrap();
    let ended = Ended::from(running.wait_with_output().unwrap()).code(3);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(purged > 500, "{purged}");
    assert_eq!(faults(&run), [purged, 0, 0, 0], "{run:#}");
    assert_eq!((count(&run, "lost"), found(&run, "still-queued")), (purged, 0));
    assert_eq!(run["expectations"][0]["measured"], purged.to_string());
}

#[test]
fn what_is_refused_comes_again_and_out_of_order() {
    let bench = Workbench::new("refused");
    let text = r#"
name = "refused"
run = { verify = true }
queues = [{ name = "refused" }]
[[publishers]]
queue = "refused"
messages = 100
[[consumers]]
queue = "refused"
prefetch = 10
multi-ack-every = 10
nack = true
messages = 50
"#;
    let run = run(&bench, text, 0);
    let [lost, duplicates, out_of_order, not_judged] = faults(&run);
    assert_eq!([lost, duplicates, not_judged], [0; 3], "marked, they are no duplicates: {run:#}");
    assert!(out_of_order > 0, "{run:#}");
    assert_eq!(found(&run, "out-of-order-redelivered"), out_of_order);
    assert!(count(&run, "redelivered") >= 40, "{run:#}");
}

/// Another client takes messages from the queue and puts each back twice.
#[test]
fn copies_are_duplicates() {
    let bench = Workbench::new("copies");
    let text = r#"
name = "copies"
run = { verify = true }
queues = [{ name = "copies" }]
[[publishers]]
queue = "copies"
messages = 100
start-delay = "300ms"
[[consumers]]
queue = "copies"
start-delay = "8s"
prefetch = 10
messages = 107
"#;
    bench.file("s.toml", text);
    let broker = existing_broker();
    let running = bench.start(&format!("run s.toml --uri {} --out out --json", broker.uri()));
    eventually("a second", || lines(&bench.path("out/series.jsonl")) >= 1);
    let uri = Uri::parse(&broker.uri()).unwrap();
    let mut client = Client::connect(&uri, "copier", Duration::from_secs(10)).unwrap();
    let channel = client.open_channel().unwrap();
    let mut copies = String::new();
    for _ in 0..7 {
        client.send(channel, &Request::Get { queue: "copies", auto_ack: true });
        let body = client.wait(|event| match event {
            Event::Got { delivery, .. } => Some(Ok(delivery.body.into_owned())),
            _ => None,
        });
        let bytes: Vec<_> = body.unwrap().iter().map(u8::to_string).collect();
        let publish = format!("Publish(<<\"/\">>, <<\"copies\">>, <<{}>>), ", bytes.join(","));
        copies += &publish.repeat(2);
    }
    client.close().unwrap();
    broker.eval(&format!("Publish = {PUBLISH}, {copies} ok")).unwrap();
    let ended = Ended::from(running.wait_with_output().unwrap()).code(0);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    // Every copy follows the 93 remaining messages.
    assert_eq!(faults(&run), [0, 7, 14, 0], "{run:#}");
    assert_eq!(count(&run, "duplicates"), 7);
}

/// No confirmed message is lost when the broker and all connections crash. Duplicates were sent twice.
#[test]
fn a_crash_loses_nothing_that_was_confirmed() {
    let bench = Workbench::new("verified-crash");
    let mut broker = own_broker();
    let text = r#"
name = "verified-crash"
run = { duration = "60s", until = "empty", empty-timeout = "20s", verify = true }
broker = { recovery = true, recovery-delay = "250ms", recovery-max-delay = "1s" }
expect = { without-service = "< 90%" }
queues = [{ name = "verified-crash", type = "quorum" }]
[[publishers]]
queue = "verified-crash"
count = 3
connections = 3
persistent = true
confirm-window = 200
rate = 200
messages = 2000
republish-unconfirmed = true
[[consumers]]
queue = "verified-crash"
count = 2
connections = 2
prefetch = 50
"#;
    bench.file("s.toml", text);
    let running = bench.start(&format!("run s.toml --uri {} --out out --json", broker.uri()));
    eventually("two seconds", || lines(&bench.path("out/series.jsonl")) >= 2);
    broker.kill();
    broker.start_again().unwrap();
    let ended = Ended::from(running.wait_with_output().unwrap()).code(0);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(count(&run, "reconnects") >= 5, "{run:#}");
    let left = ["lost", "not-judged", "still-queued"].map(|key| found(&run, key));
    assert_eq!(left, [0; 3], "{run:#}");
    assert_eq!(found(&run, "accepted"), 6_000, "{run:#}");
    assert!(found(&run, "duplicates-of-republished") <= count(&run, "republished"), "{run:#}");
}
