//! Brokers that stop, die or have an alarm under load.

use std::{thread, time::Duration};

use rabbitscope_testing::{
    Workbench, broker_with, count, eventually, latency_figure, plant, queues_on,
    scenario::{Consumers, Fault, Queue, Scenario},
};

use super::{publishers, readers};
use crate::protocols::faults::{recorded, stop_for_four_seconds};

#[test]
fn a_broker_that_stops_for_four_seconds_is_not_left_out() {
    let load = Scenario::new("mqtt-pause")
        .publishers(publishers("orders").rate(200).confirm_window(10_000))
        .consumers(readers(&["orders"]));
    stop_for_four_seconds(load);
}

/// Publishers and readers come back after a kill. A durable queue keeps all that was confirmed.
#[test]
fn a_killed_broker_loses_no_confirmed_message_of_a_durable_queue() {
    let scenario = Scenario::new("mqtt-kill")
        .queues(Queue::new("orders").bound("amq.topic", "orders"))
        .publishers(
            publishers("orders")
                .rate(1000)
                .messages(16_000)
                .confirm_window(10_000)
                .republish_unconfirmed(true),
        )
        .consumers(Consumers::new("orders").prefetch(500))
        .consumers(readers(&["orders"]).name("mqtt"))
        .faults(Fault::new("kill").at("3s").lasting("1s"))
        .recovery(true)
        .duration("40s");
    let (ended, run) = recorded(scenario);
    assert!(count(&run, "reconnects") >= 3, "{}{}", ended.stdout, ended.stderr);
    let published = count(&run, "published");
    assert_eq!(published - count(&run, "republished"), 16_000);
    assert_eq!(count(&run, "confirmed"), 16_000);
    // The durable queue has all, some of them twice; the queue of the other group ends with its connection.
    let consumed = count(&run, "consumed");
    assert!((16_000 + 3000..=2 * published).contains(&consumed), "{}", ended.stdout);
}

/// A broker with an alarm reads nothing, so it answers no ping. Connections stay nevertheless, and everything is
/// confirmed after it.
#[test]
fn a_memory_alarm_ends_no_connection() {
    let bench = Workbench::new("mqtt-alarm");
    let broker = broker_with(|spec| spec.plugins.push("rabbitmq_mqtt".to_owned()));
    let scenario = Scenario::new("mqtt-alarm")
        .publishers(publishers("alarm").rate(100).confirm_window(10_000))
        .consumers(readers(&["alarm"]))
        .duration("14s");
    bench.file("s.toml", scenario);
    let running =
        bench.start(&format!("run s.toml --uri {}&heartbeat=1 --out out", broker.uris()[0]));
    bench.await_seconds("out", 3);
    plant(&broker, "rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}), ok.");
    // Five intervals of keep-alive.
    thread::sleep(Duration::from_secs(5));
    plant(&broker, "rabbit_alarm:clear_alarm({resource_limit, memory, node()}), ok.");
    let output = running.wait_with_output().unwrap();
    let run = bench.json("out/run.json");
    assert_eq!(count(&run, "reconnects"), 0, "{output:?}");
    eventually("its queues are gone", || !queues_on(&broker).contains("mqtt-subscription"));
    let scheduled = count(&run, "scheduled");
    assert!((1380..=1410).contains(&scheduled), "{scheduled}");
    assert_eq!(count(&run, "confirmed"), scheduled);
    assert!(latency_figure(&run, "confirm-intended", "max") > 4_000_000_000, "it held");
}
