//! Connections that are lost while the load runs.

use std::{path::Path, process::Child};

use rabbitscope_broker::Broker;
use rabbitscope_data::scenario::ThrowawayBroker;
use serde_json::Value;

use crate::workbench::{Ended, Workbench, eventually, lines};

const TEXT: &str = r#"
name = "losses"
[run]
duration = "6s"
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
"#;

/// A broker of this test, which loses what others could not bear to lose.
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
    // The session's own connection among them.
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
    // The schedule is caught up with: 2000 a second, whatever happened in between.
    assert!(count(&run, "published") > 11_000, "{run:#}");
    let rows = seconds(&series);
    assert_eq!(rows[0]["connections"], 3);
    assert!(rows.iter().any(|row| row["down-nanos"].as_u64() > Some(0)), "{rows:#?}");
    let last = rows.iter().rfind(|row| row["phase"] != "drain").unwrap();
    assert_eq!(last["connections"], 3, "{rows:#?}");
}
