//! Runs that end through a signal.

use rustix::process::Signal;

use crate::workbench::{
    Ended, Workbench, eventually, existing_broker, lines, queues_on, scenario, signal,
};

#[test]
fn ctrl_c_keeps_what_was_recorded() {
    let bench = Workbench::new("interrupt");
    bench.file("s.toml", &scenario("q", "60s"));
    let running = bench.start("run s.toml --out out");
    let series = bench.path("out/series.jsonl");
    eventually("two seconds are recorded", || lines(&series) >= 2);
    signal(&running, Signal::INT);
    let ended = Ended::from(running.wait_with_output().unwrap()).code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted");
    assert!(run["load"]["confirmed"].as_u64().unwrap() > 1000);
    assert!(bench.path("out/report.html").exists());
    bench.assert_nothing_left();
}

/// The terminal disappears, as when an SSH connection breaks.
#[test]
fn the_end_of_the_terminal_keeps_what_was_recorded() {
    let bench = Workbench::new("hang-up");
    bench.file("s.toml", &scenario("hang-up", "60s"));
    let uri = existing_broker().uri();
    let running = bench.start(&format!("run s.toml --uri {uri} --out out"));
    eventually("a second is recorded", || lines(&bench.path("out/series.jsonl")) >= 1);
    signal(&running, Signal::HUP);
    Ended::from(running.wait_with_output().unwrap()).code(1);
    assert_eq!(bench.json("out/run.json")["verdict"]["kind"], "aborted");
    assert!(!queues_on(existing_broker()).contains("hang-up"));

    // Under `nohup`, the run continues.
    let program = env!("CARGO_BIN_EXE_rabbitscope");
    let mut under = bench.command_line(&format!("nohup {program} run s.toml --uri {uri} --out on"));
    let running = under.spawn().unwrap();
    eventually("a second is recorded", || lines(&bench.path("on/series.jsonl")) >= 1);
    signal(&running, Signal::HUP);
    let seconds = lines(&bench.path("on/series.jsonl"));
    eventually("it goes on", || lines(&bench.path("on/series.jsonl")) > seconds + 1);
    signal(&running, Signal::INT);
    Ended::from(running.wait_with_output().unwrap()).code(1);
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let bench = Workbench::new("twice");
    bench.file("s.toml", &scenario("q", "60s"));
    let running = bench.start("run s.toml --out out");
    eventually("the broker is being started", || bench.processes().len() > 2);
    signal(&running, Signal::INT);
    // Pending signals of one kind merge into one.
    std::thread::sleep(std::time::Duration::from_millis(100));
    signal(&running, Signal::INT);
    Ended::from(running.wait_with_output().unwrap()).code(130);
    bench.assert_nothing_left();
}

#[test]
fn a_broker_that_dies_ends_the_run() {
    let bench = Workbench::new("death");
    bench.file("s.toml", &scenario("q", "60s"));
    let running = bench.start("run s.toml --out out");
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    let node = bench.broker_directories().remove(0).join("node.json");
    let node: serde_json::Value = serde_json::from_slice(&std::fs::read(node).unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(node["pid"].as_i64().unwrap().try_into().unwrap());
    rustix::process::kill_process(pid.unwrap(), Signal::KILL).unwrap();
    let ended = Ended::from(running.wait_with_output().unwrap()).code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    assert_eq!(bench.json("out/run.json")["verdict"]["kind"], "aborted");
    bench.assert_nothing_left();
}

#[test]
fn a_kill_leaves_no_broker() {
    let bench = Workbench::new("kill");
    bench.file("s.toml", &scenario("q", "60s"));
    let mut running = bench.start("run s.toml --out out");
    let series = bench.path("out/series.jsonl");
    eventually("a second is recorded", || lines(&series) >= 1);
    assert!(bench.processes().len() > 2, "rabbitscope, broker and its port mapper run");
    signal(&running, Signal::KILL);
    running.wait().unwrap();
    bench.assert_nothing_left();
    assert!(lines(&series) >= 1, "the seconds until then are kept");
}

#[test]
fn a_kill_while_the_broker_starts_leaves_none() {
    let bench = Workbench::new("early-kill");
    bench.file("s.toml", &scenario("q", "60s"));
    let mut running = bench.start("run s.toml --out out");
    eventually("the broker is being started", || bench.processes().len() > 2);
    signal(&running, Signal::KILL);
    running.wait().unwrap();
    bench.assert_nothing_left();
}

#[test]
fn queues_of_a_killed_run_are_removed_by_the_next() {
    let broker = existing_broker();
    let bench = Workbench::new("debts");
    bench.file("s.toml", &scenario("debts", "60s"));
    let arguments = format!("run s.toml --uri {} --out", broker.uri());
    let mut running = bench.start(&format!("{arguments} killed"));
    eventually("a second is recorded", || lines(&bench.path("killed/series.jsonl")) >= 1);
    signal(&running, Signal::KILL);
    running.wait().unwrap();
    assert!(queues_on(broker).contains("debts"));

    let short =
        format!("{arguments} next --set run.duration=1s --remove-leftovers --assume-unbound");
    let ended = bench.rabbitscope(&short).code(0);
    assert!(
        ended.stderr.contains("removed leftovers of") && ended.stderr.contains("debts"),
        "{ended:#?}"
    );
    assert!(!queues_on(broker).contains("debts"), "{}", queues_on(broker));
}
