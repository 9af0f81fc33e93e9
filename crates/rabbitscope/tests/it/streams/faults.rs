//! Brokers that stop, die or lose a stream under load.

use super::{broker, publishers, readers, stream};
use rabbitscope_testing::{
    Workbench, count, delete_queue, latency_figure,
    scenario::{Fault, Scenario},
};

/// Every scheduled message is accounted for, and waits for as long as the broker.
#[test]
fn a_broker_that_stops_for_four_seconds_is_not_left_out() {
    let bench = Workbench::new("streams-pause");
    let scenario = Scenario::new("streams-pause")
        .queues(stream("orders"))
        .publishers(publishers("orders").rate(200).confirm_window(100_000))
        .consumers(readers("orders"))
        .faults(Fault::new("pause").at("2s").lasting("4s"))
        .verify(true)
        .duration("9s");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    let text = &ended.stdout;
    assert!(text.contains("0 lost, 0 duplicates, 0 out of order"), "{text}{}", ended.stderr);
    let run = bench.json("out/run.json");
    let scheduled = count(&run, "scheduled");
    assert!((1780..=1840).contains(&scheduled), "{scheduled}");
    assert_eq!(count(&run, "confirmed"), scheduled);
    let p99 = latency_figure(&run, "confirm-intended", "p99");
    assert!((3_500_000_000..4_600_000_000).contains(&p99), "{p99}");
    let (late, by_client) = (count(&run, "late"), count(&run, "late-by-client"));
    assert!(by_client * 4 <= scheduled, "{by_client} of {late} by the client");
}

#[test]
fn a_killed_node_loses_no_confirmed_message() {
    let bench = Workbench::new("streams-kill");
    let scenario = Scenario::new("streams-kill")
        .queues(stream("orders"))
        .publishers(publishers("orders").rate(500).confirm_window(100_000))
        .consumers(readers("orders"))
        .faults(Fault::new("kill").at("3s").lasting("1s"))
        .recovery(true)
        .verify(true)
        .duration("20s");
    bench.file("s.toml", scenario);
    let ended = bench.rabbitscope("run s.toml --out out");
    assert!(ended.stdout.contains(" 0 lost, 0 duplicates, 0 out of order"), "{}", ended.stdout);
    let run = bench.json("out/run.json");
    assert!(count(&run, "reconnects") >= 2, "{run:#}");
    assert!(count(&run, "consumed") > 5000, "{run:#}");
}

#[test]
fn a_deleted_stream_ends_the_run_with_its_name() {
    let bench = Workbench::new("streams-deleted");
    let scenario = Scenario::new("streams-deleted")
        .queues(stream("deleted-1"))
        .publishers(publishers("deleted-1").rate(100))
        .consumers(readers("deleted-1"))
        .duration("60s");
    let running = bench.start_run(broker(), scenario, 2);
    delete_queue(broker(), "deleted-1");
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("stream `deleted-1`"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}
