//! Groups on the connections of another group.

use rabbitscope_testing::{
    Ends, Workbench, close_connections, count, latency_figure, own_broker,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

/// Publishers with and without confirms, consumers and programs that poll, on the same two connections.
fn shared(name: &str) -> Scenario {
    let (one, other) = (&format!("{name}-1"), &format!("{name}-2"));
    let host = Publishers::new(one).name("host").count(4).connections(2).confirm_window(100);
    let guests = Publishers::new(other).name("guests").count(2).connections_of("host");
    let consumers = Consumers::new(one).count(2).connections_of("host").prefetch(50);
    let polling = Consumers::new(other).name("polling").connections_of("host").polling(true);
    Scenario::new(name)
        .queues(Queue::new(one).transient())
        .queues(Queue::new(other).transient())
        .publishers(host.rate(200))
        .publishers(guests.rate(100))
        .consumers(consumers.name("consumers"))
        .consumers(polling)
        .self_check(false)
}

#[test]
fn groups_that_share_connections_count_as_if_they_did_not() {
    let bench = Workbench::new("sharing");
    let set =
        "--set publishers.0.messages=300 --set publishers.1.messages=150 --set run.verify=true";
    let scenario = shared("sharing").duration("20s").latency_by_queue(true);
    bench.run_with(scenario, set).code(0);
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert_eq!((count(&run, "published"), count(&run, "confirmed")), (1500, 1200), "{run:#}");
    assert_eq!((count(&run, "consumed"), count(&run, "settled")), (1500, 1500), "{run:#}");
    assert_eq!(bench.rows("out/series.jsonl")[0]["connections"], 2);
    // Each group has its own latencies.
    let groups = &run["breakdown"]["groups"];
    let counted = |at: usize, name: &str| latency_figure(&groups[at], name, "count");
    assert_eq!((counted(0, "confirm"), counted(2, "end-to-end")), (1200, 1200), "{groups:#}");
    assert_eq!(counted(3, "end-to-end"), 300, "{groups:#}");
    let queues = &run["breakdown"]["queues"];
    let counted = |at: usize| latency_figure(&queues[at], "end-to-end", "count");
    assert_eq!([counted(0), counted(1)], [1200, 300], "{queues:#}");
}

#[test]
fn a_lost_connection_is_made_again_for_all_groups_on_it() {
    let bench = Workbench::new("sharing-loss");
    let broker = own_broker();
    let scenario = shared("sharing-loss")
        .duration("6s")
        .recovery(true)
        .recovery_delay("300ms")
        .expect("without-service", "< 90%");
    let running = bench.start_run_with(&broker, scenario, "", 1);
    close_connections(&broker);
    running.ended().code(0);
    let run = bench.json("out/run.json");
    assert_eq!(run["verdict"]["kind"], "completed", "{run:#}");
    assert_eq!(count(&run, "reconnects"), 2, "{run:#}");
    // 800 a second with confirms, 200 without; all but those in flight at the loss are read.
    let (published, consumed) = (count(&run, "published"), count(&run, "consumed"));
    assert!(published > 5500, "{run:#}");
    assert!(consumed + 500 > published && consumed <= published + 500, "{run:#}");
    let rows = bench.rows("out/series.jsonl");
    let last = rows.iter().rfind(|row| row["draining"] == false).unwrap();
    assert_eq!(last["connections"], 2, "{rows:#?}");
    assert!(last["consumed"].as_u64() > Some(500), "{rows:#?}");
}
