//! `top` on a node under load.

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    queues::{modules_on_node, node_arguments},
    workbench::{Workbench, eventually, existing_broker, scenario, signal},
};

#[test]
fn who_does_most_under_load() {
    let bench = Workbench::new("top");
    bench.file("s.toml", &scenario("inside-top", "60s"));
    let uri = existing_broker().uri();
    let mut load = bench.start(&format!("run s.toml --uri {uri} --out out"));
    let node = node_arguments();
    let top = |arguments: &str| -> Value {
        let ended = bench.rabbitscope(&format!("top {arguments} {node} --json")).code(0);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let rows = |top: &Value| top["rows"].as_array().unwrap().clone();
    let named = |top: &Value, name: &str| {
        rows(top).iter().find(|row| row["name"].as_str().unwrap().contains(name)).cloned()
    };
    eventually("the queue works", || {
        let top = top("queues --interval 500ms --limit 100");
        named(&top, "inside-top")
            .is_some_and(|row| row["reductions-per-second"].as_f64() > Some(1e4))
    });

    let connections = top("connections --sort in --interval 500ms --limit 5");
    let most = rows(&connections)[0]["in-per-second"].as_f64().unwrap();
    assert!(most > 10_000.0, "2,000 messages a second are more than {most} bytes: {connections}");

    let channels = top("channels --interval 500ms");
    assert_eq!(channels["rates-known"], false, "half a second is less than the node counts in");
    assert!(channels["candidates"].as_u64().unwrap() >= 2, "{channels}");

    let processes = top("processes --limit 10");
    let working = &processes["microstates"]["scheduler"]["emulator"];
    assert!(working.as_f64().unwrap() > 0.01, "{processes}");
    let cost = |row: &Value| row["reductions-per-second"].as_f64().unwrap();
    let found = rows(&processes);
    assert_eq!(found.len(), 10);
    assert!(found.is_sorted_by(|a, b| cost(a) >= cost(b)), "{processes}");
    let roles: Vec<&str> = found.iter().filter_map(|row| row["role"].as_str()).collect();
    assert!(roles.contains(&"queue") && roles.contains(&"channel"), "{roles:?}");
    assert!(processes["scheduler-use"].as_f64().unwrap() > 0.0);

    for sort in ["memory", "mailbox", "binaries"] {
        assert_eq!(rows(&top(&format!("--sort {sort} --interval 100ms --limit 3"))).len(), 3);
    }
    bench.rabbitscope(&format!("top --sort in {node}")).code(2).says(&["--sort in"]);
    signal(&load, Signal::INT);
    load.wait().unwrap();
    eventually("nothing of it is on the node", || modules_on_node() == "[]");
}
