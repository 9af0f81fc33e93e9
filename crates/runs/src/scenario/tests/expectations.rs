//! `[expect]`: possible expectations of a scenario, and those that a scenario never measures.

use super::{SMALL, read, refused};

const CONFIRMS: &str = "publishers.0.confirm-window=9";

#[test]
fn expectations_are_read() {
    fn check(assignment: &str, expected: &str) {
        let scenario = read(SMALL, &["run.verify=true", CONFIRMS, assignment]).unwrap();
        assert_eq!(scenario.expect.that[0].to_string(), expected);
    }
    check("expect.confirm.p99=< 20ms", "confirm.p99 < 20ms");
    check("expect.end-to-end-intended.p9999=<=1500us", "end-to-end-intended.p9999 <= 1500us");
    check("expect.published.rate=>= 9999.5", "published.rate >= 9999.5");
    check("expect.lost=== 0", "lost == 0");
    check("expect.without-service=< 1500ms", "without-service < 1500ms");
    check("expect.blocked=<= 5%", "blocked <= 5%");
    check("expect.late=< 0.5 %", "late < 0.5%");
    check("expect.node.run-queue.mean=< 1.5", "node.run-queue.mean < 1.5");
    check("expect.node.memory-ets.max=<= 100MiB", "node.memory-ets.max <= 100MiB");
    check("expect.broker.memory.max=< 2147483648B", "broker.memory.max < 2GiB");
    check("expect.broker.cpu.min=> 0.25", "broker.cpu.min > 0.25");
    assert!(read(SMALL, &["expect.steady=true"]).unwrap().expect.steady);
}

#[test]
fn expectations_that_make_no_sense_are_refused() {
    refused(&["expect.confirm.p98=< 20ms"], &["expect.confirm.p98", "`p95`", "did you mean"]);
    refused(&["expect.comfirm.p99=< 20ms"], &["expect.comfirm", "did you mean `confirm`?"]);
    refused(&["expect.confirm.p99=20ms"], &["expect.confirm.p99", "how to compare", "`< 20ms`"]);
    refused(&["expect.confirm.p99=< 20"], &["expect.confirm.p99", "`20`", "`< 20ms`"]);
    refused(&["expect.published.rate=> inf"], &["expect.published.rate", "`>= 10000`"]);
    refused(&["expect.node.run-queu.max=< 1"], &["expect.node.run-queu", "`run-queue`?"]);
    refused(&["expect.node.run-queue.p99=< 1"], &["expect.node.run-queue.p99", "`mean`"]);
    refused(&["expect.node.run-queue=< 1"], &["expect.node.run-queue", "a table is expected"]);
    refused(&["expect.broker.memory.max=< 1s"], &["`1s`", "`< 1GiB`"]);
    refused(&["expect.published=> 1"], &["expect.published", "a table is expected"]);
    refused(&["expect.nacked=== -1"], &["expect.nacked", "`== 0`", "`< 1%`"]);
    refused(&["expect.lost=== 0"], &["expect.lost", "verify = true"]);
}

#[test]
fn what_is_never_measured_cannot_be_expected() {
    let confirms = ["confirm-window", "tx-size"];
    for key in ["confirm.p99=< 1s", "confirm-intended.max=< 1s", "unconfirmed=== 0", "nacked=== 0"]
    {
        refused(&[&format!("expect.{key}")], &[&["expect."][..], &confirms].concat());
        read(SMALL, &[CONFIRMS, &format!("expect.{key}")]).unwrap();
    }
    refused(&["expect.confirmed.rate=> 1"], &confirms);
    refused(&["expect.round-trip.p50=< 1s"], &["`[[requests]]`"]);
    refused(&["expect.replies.rate=> 1"], &["`[[requests]]`"]);
    refused(&["expect.churn-failed=== 0"], &["`[[churn]]`"]);
    refused(&["expect.end-to-end.p50=< 1s", "publishers.0.size=5B"], &["12 bytes"]);
    refused(&["expect.blocked=< 5"], &["expect.blocked", "`< 2s` or `< 10%`"]);
    let (publishers, _) = SMALL.split_once("[[consumers]]").unwrap();
    let message = read(publishers, &["expect.consumed.rate=> 1"]).unwrap_err().to_string();
    assert!(message.contains("`[[consumers]]`"), "{message}");
}

#[test]
fn a_check_that_would_check_nothing_is_refused() {
    refused(&["run.verify=true", "publishers.0.size=5B"], &["run.verify", "`12B` or more"]);
    read(SMALL, &["run.verify=true", "publishers.0.size=12B"]).unwrap();
    read(SMALL, &["run.verify=true", "publishers.0.size=5B", "publishers.0.body=json"]).unwrap();
}

#[test]
fn a_list_begins_with_its_first_key() {
    let (publishers, _) = SMALL.split_once("[[consumers]]").unwrap();
    let scenario = read(publishers, &["consumers.0.queue=q", "consumers.0.prefetch=7"]).unwrap();
    assert_eq!(scenario.consumers[0].prefetch, Some(7));
    let message = read(publishers, &["consumers.1.queue=q"]).unwrap_err().to_string();
    assert!(message.contains("there are 0 of these"), "{message}");
}

#[test]
fn types_have_plain_names() {
    for key in ["publishers.0.properties.priority=300", "publishers.0.properties.priority=x"] {
        refused(&[key], &["a whole number from 0 to 255 is expected"]);
    }
    refused(&["consumers.0.priority=x"], &["a whole number is expected"]);
    refused(&["consumers.0.prefetch=x"], &["a whole number from 0 to 65535 is expected"]);
}
