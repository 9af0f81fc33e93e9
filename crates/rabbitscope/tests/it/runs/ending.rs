//! Runs that end through a signal.

use std::process::Child;

use rabbitscope_testing::{
    Ends, Stops, Workbench, count, eventually, existing_broker, lines, pid, queues_on,
    scenario::Scenario, signal,
};
use rustix::process::{Signal, kill_process};

/// Starts a run of a minute on a throwaway broker.
fn start(bench: &Workbench) -> Child {
    bench.file("s.toml", Scenario::steady("q", "60s"));
    bench.start("run s.toml --out out")
}

#[test]
fn ctrl_c_keeps_what_was_recorded() {
    let bench = Workbench::new("interrupt");
    let running = start(&bench);
    bench.await_seconds("out", 2);
    let ended = running.ended_by(Signal::INT).code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "aborted");
    assert!(count(&run, "confirmed") > 1000);
    assert!(bench.path("out/report.html").exists());
    bench.assert_nothing_left();
}

/// The terminal disappears, as when an SSH connection breaks.
#[test]
fn the_end_of_the_terminal_keeps_what_was_recorded() {
    let bench = Workbench::new("hang-up");
    let running = bench.start_run(existing_broker(), Scenario::steady("hang-up", "60s"), 1);
    running.ended_by(Signal::HUP).code(1);
    assert_eq!(bench.json("out/run.json")["verdict"]["kind"], "aborted");
    assert!(!queues_on(existing_broker()).contains("hang-up"));

    // Under `nohup`, the run continues.
    let again = format!("run s.toml --uri {} --out on", existing_broker().uri());
    let running = bench.command_through("nohup", &again).spawn().unwrap();
    bench.await_seconds("on", 1);
    signal(&running, Signal::HUP);
    let seconds = lines(&bench.path("on/series.jsonl"));
    eventually("it goes on", || lines(&bench.path("on/series.jsonl")) > seconds + 1);
    running.ended_by(Signal::INT).code(1);
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let bench = Workbench::new("twice");
    let running = start(&bench);
    eventually("the broker is being started", || bench.processes().len() > 2);
    signal(&running, Signal::INT);
    // Pending signals of one kind merge into one.
    std::thread::sleep(std::time::Duration::from_millis(100));
    running.ended_by(Signal::INT).code(130);
    bench.assert_nothing_left();
}

#[test]
fn a_broker_that_dies_ends_the_run() {
    let bench = Workbench::new("death");
    let running = start(&bench);
    bench.await_seconds("out", 1);
    let node = u32::try_from(bench.broker_facts()["pid"].as_u64().unwrap()).unwrap();
    kill_process(pid(node), Signal::KILL).unwrap();
    let ended = running.ended().code(1);
    assert!(ended.stdout.contains("Cut short"), "{ended:#?}");
    assert_eq!(bench.json("out/run.json")["verdict"]["kind"], "aborted");
    bench.assert_nothing_left();
}

#[test]
fn a_kill_leaves_no_broker() {
    let bench = Workbench::new("kill");
    let running = start(&bench);
    bench.await_seconds("out", 1);
    assert!(bench.processes().len() > 2, "rabbitscope, broker and its port mapper run");
    running.killed();
    bench.assert_nothing_left();
    assert!(!bench.rows("out/series.jsonl").is_empty(), "the seconds until then are kept");
}

#[test]
fn a_kill_while_the_broker_starts_leaves_none() {
    let bench = Workbench::new("early-kill");
    let running = start(&bench);
    eventually("the broker is being started", || bench.processes().len() > 2);
    running.killed();
    bench.assert_nothing_left();
}

#[test]
fn queues_of_a_killed_run_are_removed_by_the_next() {
    let broker = existing_broker();
    let bench = Workbench::new("debts");
    bench.file("s.toml", Scenario::steady("debts", "60s"));
    let arguments = format!("run s.toml --uri {} --out", broker.uri());
    let running = bench.start(&format!("{arguments} killed"));
    bench.await_seconds("killed", 1);
    running.killed();
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
