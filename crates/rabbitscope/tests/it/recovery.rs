//! Connections that are lost during the load.

use std::{collections::HashSet, path::Path, process::Child, time::Duration};

use rabbitscope_amqp::{Event, Request, Uri, blocking::Client};
use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use serde_json::Value;

use crate::workbench::{Ended, Workbench, eventually, lines};

const TEXT: &str = r#"
name = "losses"
[run]
duration = "6s"
self-check = false
[broker]
recovery = true
recovery-delay = "500ms"
[[queues]]
name = "losses"
durable = false
[[publishers]]
queue = "losses"
count = 4
connections = 2
confirm-window = 100
rate = 500
[[consumers]]
queue = "losses"
prefetch = 100
[expect]
without-service = "< 90%"
"#;

/// Starts a broker of this test alone, because other tests could not tolerate its losses.
fn broker(bench: &Workbench) -> Broker {
    Broker::start(&ThrowawayBroker::default(), &bench.path("broker.log")).unwrap()
}

#[track_caller]
fn finish(child: Child, code: i32) -> Value {
    let ended = Ended::from(child.wait_with_output().unwrap()).code(code);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

fn seconds(series: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(series).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn count(run: &Value, key: &str) -> u64 {
    run["load"][key].as_u64().unwrap_or_else(|| panic!("{key} in {run:#}"))
}

#[test]
fn connections_that_are_closed_come_back_and_the_gap_shows() {
    let bench = Workbench::new("losses");
    let broker = broker(&bench);
    bench.file("s.toml", TEXT);
    let child = bench.start(&format!("run s.toml --uri {} --out out --json", broker.uri()));
    let series = bench.path("out/series.jsonl");
    eventually("a second of load", || lines(&series) >= 1);
    // The session's own connection is among them.
    broker
        .eval(
            "[rabbit_networking:close_connection(P, \"by the test\") || \
             P <- rabbit_networking:connections()]",
        )
        .unwrap();
    let run = finish(child, 0);
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert_eq!(count(&run, "reconnects"), 3);
    assert!(count(&run, "down-nanos") > 3 * 250_000_000, "{run:#}");
    let answered = ["confirmed", "nacked", "unanswered", "unconfirmed"];
    let answered: u64 = answered.map(|key| count(&run, key)).iter().sum();
    assert_eq!(count(&run, "published"), answered, "{run:#}");
    // The load catches up with its schedule of 2000 a second.
    assert!(count(&run, "published") > 11_000, "{run:#}");
    let rows = seconds(&series);
    assert_eq!(rows[0]["connections"], 3);
    assert!(rows.iter().any(|row| row["down-nanos"].as_u64() > Some(0)), "{rows:#?}");
    let last = rows.iter().rfind(|row| row["phase"] != "drain").unwrap();
    assert_eq!(last["connections"], 3, "{rows:#?}");
}

/// Kills the broker of a confirmed persistent load on a durable queue of this type, and starts it again on the same
/// data.
#[track_caller]
fn survives_a_crash(queue_type: &str, republish: bool) {
    let bench = Workbench::new(&format!("crash-{queue_type}-{republish}"));
    let mut broker = broker(&bench);
    let text = format!(
        r#"
name = "crash"
[run]
duration = "90s"
self-check = false
[broker]
recovery = true
recovery-delay = "250ms"
recovery-max-delay = "1s"
[[queues]]
name = "crash"
type = "{queue_type}"
keep = true
[[publishers]]
queue = "crash"
count = 3
connections = 3
persistent = true
confirm-window = 200
rate = 200
messages = 2000
republish-unconfirmed = {republish}
[expect]
without-service = "< 90%"
"#
    );
    bench.file("s.toml", &text);
    let child = bench.start(&format!("run s.toml --uri {} --out out --json", broker.uri()));
    let series = bench.path("out/series.jsonl");
    eventually("two seconds of load", || lines(&series) >= 2);
    broker.kill();
    broker.start_again().unwrap();
    let run = finish(child, 0);
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert!(count(&run, "reconnects") >= 3, "{run:#}");
    let rows = seconds(&series);
    assert!(rows.iter().any(|row| row["connections"] == 0), "the gap is not visible: {rows:#?}");

    // Every message is confirmed, refused, or counted as unanswered; none is missing from the sum.
    let answered = ["confirmed", "nacked", "unanswered", "unconfirmed"];
    let answered: u64 = answered.map(|key| count(&run, key)).iter().sum();
    assert_eq!(count(&run, "published"), answered, "{run:#}");
    assert_eq!(count(&run, "published") - count(&run, "republished"), 6_000, "{run:#}");
    if republish {
        assert_eq!(count(&run, "republished"), count(&run, "unanswered"), "{run:#}");
        let losses = run["losses"].to_string();
        assert!(!losses.contains("may be lost"), "what was sent again is not: {losses}");
    }

    // Each confirmed message is on the queue once, or twice if it was sent again. An unconfirmed message may be
    // there.
    let (distinct, all) = drained(&bench, &broker);
    let (confirmed, unanswered) = (count(&run, "confirmed"), count(&run, "unanswered"));
    assert!(all >= confirmed, "{all} messages, {confirmed} confirmed");
    assert!(all <= confirmed + unanswered, "{all} messages, {confirmed} + {unanswered} sent");
    if republish {
        assert_eq!(distinct, 6_000, "with republishing, every message is there");
    } else {
        assert_eq!(distinct, all, "nothing is there twice");
    }
}

/// Reads the queue `crash` to its end; returns the number of distinct messages, and of all. The last 28 bits of a
/// stamp are publisher and number; a message that is sent again has a different time.
fn drained(bench: &Workbench, broker: &Broker) -> (u64, u64) {
    let uri = Uri::parse(&broker.uri()).unwrap();
    let mut client = Client::connect(&uri, "drain", Duration::from_secs(10)).unwrap();
    let channel = client.open_channel().unwrap();
    let mut bodies = HashSet::new();
    let mut all = 0;
    loop {
        client.send(channel, &Request::Get { queue: "crash", auto_ack: true });
        let body = client.wait(|event| match event {
            Event::Got { delivery, .. } => Some(Ok(Some(delivery.body.into_owned()))),
            Event::GetEmpty { .. } => Some(Ok(None)),
            _ => None,
        });
        let Some(body) =
            body.unwrap_or_else(|error| panic!("{error} {}", bench.directory.display()))
        else {
            return (bodies.len() as u64, all);
        };
        all += 1;
        let last: [u8; 4] = body[8..12].try_into().unwrap();
        bodies.insert(u32::from_be_bytes(last) & 0x0fff_ffff);
    }
}

#[test]
fn no_confirmed_message_of_a_classic_queue_is_lost_in_a_crash() {
    survives_a_crash("classic", false);
}

#[test]
fn no_message_of_a_quorum_queue_is_lost_when_it_is_sent_again() {
    survives_a_crash("quorum", true);
}
