//! `until = "empty"`: a run that continues until its queues are empty.

use crate::{
    loads::{count, run},
    workbench::Workbench,
};

/// The consumer needs three seconds more than the publisher.
const TEXT: &str = r#"
name = "emptying"
run = { until = "empty" }
queues = [{ name = "emptying" }]
[[publishers]]
queue = "emptying"
messages = 1500
[[consumers]]
queue = "emptying"
rate = 500
prefetch = 20
"#;

#[test]
fn consumers_take_what_is_left() {
    let bench = Workbench::new("emptying");
    let run = run(&bench, TEXT, 0);
    assert_eq!(count(&run, "consumed"), 1500);
    let series = bench.read("out/series.jsonl");
    let draining = series.lines().filter(|line| line.contains("\"draining\":true")).count();
    assert!(draining >= 3, "the drain has its seconds: {series}");
    let load = run["duration-nanos"].as_u64().unwrap();
    assert!(load < 2_000_000_000, "the drain is no part of the load: {run:#}");
}

#[test]
fn queues_that_are_never_empty_end_the_run_late() {
    let bench = Workbench::new("never-empty");
    let text = TEXT.replace("\"empty\"", "\"empty\", empty-timeout = \"1s\"");
    let text = text.replace("emptying", "never-empty").replace("rate = 500", "rate = 20");
    let run = run(&bench, &text, 1);
    let reason = run["verdict"]["reason"].as_str().unwrap();
    assert!(reason.contains("empty-timeout") && reason.contains("messages are left"), "{reason}");
    assert!((10..200).contains(&count(&run, "consumed")), "{run:#}");
}

#[test]
fn consumers_alone_empty_a_queue() {
    let bench = Workbench::new("alone");
    let text = TEXT.replace("emptying", "left-for-others").replace("500", "400");
    let (head, publishers) = text.split_once("[[publishers]]").unwrap();
    let (publishers, consumers) = publishers.split_once("[[consumers]]").unwrap();
    let (of_publishers, kept) = (head.replace("until = \"empty\"", ""), "\", keep = true }");
    let first = format!("{}[[publishers]]{publishers}", of_publishers.replace("\" }", kept));
    run(&bench, &first, 0);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let second = run(&bench, &format!("{head}[[consumers]]{consumers}"), 0);
    assert_eq!((count(&second, "published"), count(&second, "consumed")), (0, 1400));
}

/// The sockets take all messages at once, and the broker needs seconds to read them.
#[test]
fn what_sockets_hold_is_awaited() {
    let bench = Workbench::new("in-sockets");
    let text = r#"
name = "in-sockets"
run = { until = "empty", verify = true }
queues = [{ name = "in-sockets", type = "quorum" }]
publishers = [{ queue = "in-sockets", count = 4, connections = 4, messages = 30000 }]
consumers = [{ queue = "in-sockets", prefetch = 100 }]
"#;
    let run = run(&bench, text, 0);
    let counts = ["published", "accepted", "consumed"].map(|key| count(&run, key));
    assert_eq!(counts, [120_000; 3], "{run:#}");
    let found = ["lost", "still-queued", "not-judged"];
    let found = found.map(|key| run["verification"][key].as_u64().unwrap());
    assert_eq!(found, [0; 3], "{run:#}");
}
