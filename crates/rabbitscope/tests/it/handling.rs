//! Transactions, polling, refusals, limits and processing times of consumers on a live broker.

use serde_json::Value;

use crate::{
    loads::{count, run},
    workbench::Workbench,
};

#[track_caller]
fn check_within(value: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&value), "{value} is not from {low} to {high}");
}

fn seconds(run: &Value) -> f64 {
    run["duration-nanos"].as_f64().unwrap() / 1e9
}

#[test]
fn transactions_are_committed_to_the_last_message() {
    let bench = Workbench::new("tx");
    let text = r#"
name = "tx"
[[queues]]
name = "rs.tx"
[[publishers]]
queue = "rs.tx"
count = 2
tx-size = 10
messages = 105
[[consumers]]
queue = "rs.tx"
prefetch = 40
multi-ack-every = 3
tx-size = 5
messages = 210
"#;
    let of_tx = run(&bench, text, 0);
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&of_tx, key), 210, "{key}");
    }
    assert_eq!((count(&of_tx, "unconfirmed"), count(&of_tx, "redelivered")), (0, 0));
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    // An open transaction is committed when the time is up.
    let timed = text.replace("messages = 105", "rate = 33").replace("messages = 210", "");
    let of_time = run(&bench, &format!("run.duration = \"2s\"\n{timed}"), 0);
    assert_eq!(count(&of_time, "unconfirmed"), 0);
    assert_eq!(count(&of_time, "consumed"), count(&of_time, "published"));
}

#[test]
fn polling_asks_for_each_message() {
    let bench = Workbench::new("polling");
    let text = r#"
name = "polling"
[[queues]]
name = "rs.polling-{}"
to = 2
[[publishers]]
queue = "rs.polling-{}"
start-delay = "300ms"
messages = 50
[[consumers]]
queue = "rs.polling-{}"
polling = true
poll-interval = "5ms"
multi-ack-every = 5
messages = 50
"#;
    let run = run(&bench, text, 0);
    assert_eq!(count(&run, "consumed"), 50);
    assert!(count(&run, "empty-polls") > 20, "300 ms of nothing: {run:#}");
    check_within(seconds(&run), 0.5, 3.0);
}

#[test]
fn what_is_refused_comes_again() {
    let bench = Workbench::new("nack");
    let text = r#"
name = "nack"
[[queues]]
name = "rs.nack"
[[publishers]]
queue = "rs.nack"
messages = 10
[[consumers]]
queue = "rs.nack"
prefetch = 5
nack = true
messages = 50
"#;
    let requeued = run(&bench, text, 0);
    assert_eq!((count(&requeued, "consumed"), count(&requeued, "rejected")), (50, 50));
    assert!(count(&requeued, "redelivered") >= 40, "{requeued:#}");
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let dropped = text.replace("nack = true", "nack = true\nrequeue = false");
    let dropped = run(&bench, &dropped.replace("= 50", "= 10"), 0);
    assert_eq!((count(&dropped, "rejected"), count(&dropped, "redelivered")), (10, 0));
}

#[test]
fn a_rate_and_a_processing_time_set_the_pace() {
    let bench = Workbench::new("paces");
    let text = r#"
name = "paces"
[[queues]]
name = "rs.paces"
[[publishers]]
queue = "rs.paces"
messages = 1000
[[consumers]]
queue = "rs.paces"
prefetch = 20
rate = 200
messages = 600
"#;
    let rate = run(&bench, text, 0);
    check_within(seconds(&rate), 2.7, 4.5);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let text = text.replace("rate = 200", "processing-time = \"10ms\"").replace("600", "150");
    let processing = run(&bench, &text, 0);
    // Each message also takes the time by which the machine oversleeps.
    check_within(seconds(&processing), 1.49, 4.0);
}

#[test]
fn a_channel_limit_holds_for_all_its_consumers() {
    let bench = Workbench::new("limit");
    let text = r#"
name = "limit"
[[queues]]
name = "rs.limit"
[[publishers]]
queue = "rs.limit"
messages = 200
[[consumers]]
queue = "rs.limit"
count = 4
channels = 1
channel-prefetch = 1
processing-time = "20ms"
messages = 15
"#;
    let run = run(&bench, text, 0);
    // The consumer works on one message at a time, although four could run in parallel.
    assert!(seconds(&run) > 1.1, "{} s", seconds(&run));
}

#[test]
fn nothing_confirmed_is_counted_or_ends_the_run() {
    let bench = Workbench::new("unconfirmed");
    // A transaction that is not full is not committed, and thus not confirmed.
    let text = r#"
name = "unconfirmed"
run.duration = "4s"
[[queues]]
name = "rs.unconfirmed"
[[publishers]]
queue = "rs.unconfirmed"
rate = 5
tx-size = 1000
confirm-timeout = "1s"
"#;
    let counted = run(&bench, text, 0);
    assert_eq!(count(&counted, "confirm-timeouts"), 1);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let failed = run(&bench, &format!("{text}on-confirm-timeout = \"fail\"\n"), 1);
    assert!(failed["verdict"]["reason"].as_str().unwrap().contains("confirm-timeout"));
}

#[test]
fn consumers_start_one_after_the_other() {
    let bench = Workbench::new("slow");
    let text = r#"
name = "slow"
[[queues]]
name = "rs.slow"
[[publishers]]
queue = "rs.slow"
messages = 100
[[consumers]]
queue = "rs.slow"
count = 3
prefetch = 1
start-delay = "200ms"
slow-start = "500ms"
exclusive = false
messages = 10
"#;
    let run = run(&bench, text, 0);
    assert_eq!(count(&run, "consumed"), 30);
    check_within(seconds(&run), 1.2, 2.5);
}

#[test]
fn packed_messages_are_taken_apart_into_what_was_packed() {
    let bench = Workbench::new("packed");
    let of = |keys: &str, unpack: bool| {
        let text = format!(
            r#"
name = "packed"
run.verify = true
[[queues]]
name = "rs.packed"
[[publishers]]
queue = "rs.packed"
messages = 500
size = "2KB"
confirm-window = 100
{keys}
[[consumers]]
queue = "rs.packed"
messages = 500
prefetch = 50
unpack = {unpack}
"#
        );
        let run = run(&bench, &text, 0);
        std::fs::remove_dir_all(bench.path("out")).unwrap();
        assert_eq!(count(&run, "unpacking-failures"), 0, "{keys}");
        let faults = ["lost", "duplicates", "out-of-order"].map(|key| &run["verification"][key]);
        assert!(faults.iter().all(|count| count.as_u64() == Some(0)), "{keys}: {faults:?}");
        ["published-items", "consumed-items", "published-item-bytes", "consumed-item-bytes"]
            .map(|key| count(&run, key))
    };
    let packings = [
        ("body = \"json\"\ncompression = \"gzip\"", 1),
        ("body = \"json\"\ncompression = \"zstd\"\ncompression-level = 9", 1),
        ("body = \"json\"\ncompression = \"lz4\"\nitems-per-message = 100", 100),
        ("items-per-message = 7", 7),
    ];
    for (keys, items) in packings {
        let [published, consumed, sent, received] = of(keys, true);
        assert_eq!((published, consumed), (500 * items, 500 * items), "{keys}");
        assert_eq!((sent, received), (2000 * 500 * items, sent), "{keys}");
    }
    let [_, consumed, sent, received] = of(packings[0].0, false);
    assert_eq!(consumed, 500);
    assert!(received < sent * 9 / 10, "{received} bytes of {sent} on the wire");
}
