//! `top` shows no unknown figure: uncounted messages, connections of plugins, microstates of a part of the interval.

use std::{
    io::Write,
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Workbench, broker_with, evaluate, existing_broker, find, mqtt_client, node_options, plant,
    port_of,
};
use serde_json::Value;

/// A broker with MQTT, and commands that look into it.
struct Node {
    broker: Broker,
    bench: Workbench,
}

impl Node {
    fn start(name: &str) -> Self {
        let broker = broker_with(|spec| spec.plugins = vec!["rabbitmq_mqtt".to_owned()]);
        Self { broker, bench: Workbench::new(name) }
    }

    fn top(&self, arguments: &str) -> Value {
        let asked = format!("top {arguments} --json {}", node_options(&self.broker));
        self.bench.rabbitscope(&asked).code(0).json()
    }
}

/// Publishes without a subscriber until it is told to stop.
fn publish(stream: &mut TcpStream, stop: &AtomicBool) {
    let message = [&[0x30, 103][..], &[0, 1], b"t", &[b'x'; 100]].concat();
    while !stop.load(Ordering::Relaxed) {
        stream.write_all(&message).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

const DECLARE: &str = "application:set_env(rabbit, collect_statistics, fine), \
    application:set_env(rabbit, collect_statistics_interval, 200), \
    [{new, _} = rabbit_amqqueue:declare({resource, <<\"/\">>, queue, Type}, true, false, \
     [{<<\"x-queue-type\">>, longstr, Type}], none, <<\"test\">>) \
     || Type <- [<<\"classic\">>, <<\"stream\">>]], ok";

#[test]
fn what_is_not_counted_is_not_zero() {
    let node = Node::start("top-truths");
    plant(&node.broker, DECLARE);
    let rate = |top: &Value, name: &str| find(&top["rows"], "name", name)["in-per-second"].clone();
    let queues = node.top("queues --interval 500ms");
    assert_eq!(queues["rates-known"], true, "{queues}");
    assert_eq!(rate(&queues, "classic"), 0.0);
    assert_eq!(rate(&queues, "stream"), Value::Null);

    let (user, password) = node.broker.login();
    let mut stream = mqtt_client(port_of(&node.broker, "mqtt"), user, password);
    let native = "erlang:module_loaded(rabbit_mqtt_qos0_queue)";
    if node.broker.eval(native).unwrap() == "true" {
        let queues = node.top("queues --interval 500ms");
        assert_eq!(rate(&queues, "classic"), Value::Null);
    }
    let stop = AtomicBool::new(false);
    let connections = thread::scope(|scope| {
        scope.spawn(|| publish(&mut stream, &stop));
        let connections = node.top("connections --sort in --interval 1s");
        stop.store(true, Ordering::Relaxed);
        connections
    });
    let row = &connections["rows"][0];
    // A hundred messages a second are ten thousand bytes, and cause work.
    assert!(row["in-per-second"].as_f64() > Some(2_000.0), "{connections}");
    assert!(row["reductions-per-second"].as_f64() > Some(1_000.0), "{connections}");
}

#[test]
fn microstates_of_a_part_of_the_interval_are_not_shown() {
    let bench = Workbench::new("top-microstates");
    let ended = AtomicBool::new(false);
    thread::scope(|scope| {
        // Another user of the accounting, which turns it off again and again.
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                evaluate(existing_broker(), "erlang:system_flag(microstate_accounting, false)");
                thread::sleep(Duration::from_millis(100));
            }
        });
        let top =
            bench.rabbitscope(&format!("top {} --interval 2s", node_options(existing_broker())));
        ended.store(true, Ordering::Relaxed);
        let top = top.code(0);
        assert!(top.stdout.contains("thread activity is unknown"), "{top:#?}");
    });
}
