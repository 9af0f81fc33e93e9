//! Brokers that stop or die under load, and queues that go.

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ended, Ends as _, Workbench, count, delete_queue, latency_figure,
    scenario::{Fault, Scenario},
};
use serde_json::Value;

/// Runs a scenario. Returns its output and its record.
pub(crate) fn recorded(scenario: Scenario) -> (Ended, Value) {
    let bench = Workbench::new("protocols-faults");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    let run = bench.json("out/run.json");
    (ended, run)
}

/// Runs a load of 200 messages a second on a broker that stops for four seconds. Every scheduled message is accounted
/// for, and waits for as long as the broker.
pub(crate) fn stop_for_four_seconds(load: Scenario) {
    let pause = Fault::new("pause").at("2s").lasting("4s");
    let (ended, run) = recorded(load.faults(pause).verify(true).duration("9s"));
    let text = &ended.stdout;
    assert!(text.contains("0 lost, 0 duplicates, 0 out of order"), "{text}{}", ended.stderr);
    let scheduled = count(&run, "scheduled");
    assert!((1780..=1840).contains(&scheduled), "{scheduled}");
    assert_eq!(count(&run, "confirmed"), scheduled);
    let p99 = latency_figure(&run, "confirm-intended", "p99");
    assert!((3_500_000_000..6_000_000_000).contains(&p99), "{p99}");
    let (late, by_client) = (count(&run, "late"), count(&run, "late-by-client"));
    assert!(by_client * 4 <= scheduled, "{by_client} of {late} by the client");
}

/// Runs a load while a node, or the leader of its queue, is killed. Nothing confirmed is lost. Returns the record.
pub(crate) fn kill(load: Scenario, fault: Fault) -> Value {
    killed(load, fault, " 0 lost,")
}

/// Does the same with a load that deduplicates: each message comes once, in its order.
pub(crate) fn kill_exactly(load: Scenario, fault: Fault) -> Value {
    killed(load, fault, " 0 lost, 0 duplicates, 0 out of order")
}

fn killed(load: Scenario, fault: Fault, words: &str) -> Value {
    let (ended, run) = recorded(load.faults(fault).recovery(true).verify(true));
    assert!(ended.stdout.contains(words), "{}{}", ended.stdout, ended.stderr);
    run
}

/// Deletes the queue of a load, which fails with these words.
pub(crate) fn delete(broker: &Broker, queue: &str, load: Scenario, words: &str) {
    let bench = Workbench::new("protocols-deleted");
    let running = bench.start_run(broker, load.duration("60s"), 2);
    delete_queue(broker, queue);
    let said = running.ended().code(1).stdout;
    assert!(said.contains(words), "{said}");
}
