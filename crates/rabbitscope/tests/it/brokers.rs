//! `broker start`, `status`, `stop`.

use std::fs;

use crate::workbench::{Workbench, eventually};

#[test]
fn a_broker_that_stays_until_it_is_stopped() {
    let bench = Workbench::new("broker");
    bench.file("rabbitmq.conf", "channel_max = 42\n");
    let started = bench.rabbitscope("broker start --json --config rabbitmq.conf").code(0);
    let started: serde_json::Value = serde_json::from_str(&started.stdout).unwrap();
    let name = started["name"].as_str().unwrap();
    let log = || fs::read_to_string(started["log"].as_str().unwrap()).unwrap();
    eventually("the log is written", || log().contains("Server startup complete"));

    let listed = bench.rabbitscope("broker status --json").code(0);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed, serde_json::json!([started]));

    bench.rabbitscope("broker stop nobody").code(5).says(&["nobody", name]);
    assert_eq!(bench.rabbitscope("broker stop").code(0).stdout, format!("stopped {name}\n"));
    bench.assert_nothing_left();
    let listed = bench.rabbitscope("broker status").code(0);
    assert_eq!(listed.stdout, "no throwaway broker runs\n");
}

#[test]
fn a_broker_that_was_killed_with_its_guard_is_cleaned_up_after() {
    let bench = Workbench::new("stale");
    bench.rabbitscope("broker start").code(0);
    for pid in bench.processes() {
        let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
    eventually("the processes are gone", || bench.processes().is_empty());
    assert_eq!(bench.broker_directories().len(), 1, "nobody was left to remove it");

    let ended = bench.rabbitscope("broker status").code(0);
    assert!(ended.stderr.contains("had left behind"), "{ended:#?}");
    assert!(bench.broker_directories().is_empty());
}
