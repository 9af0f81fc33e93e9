//! `top` shows no unknown figure: uncounted messages, connections of plugins, microstates of a part of the interval.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use serde_json::Value;

use crate::{
    queues::{eval, node_arguments},
    workbench::Workbench,
};

/// A broker with MQTT, and commands that look into it.
struct Node {
    broker: Broker,
    bench: Workbench,
}

impl Node {
    fn start(name: &str) -> Self {
        let bench = Workbench::new(name);
        let spec = ThrowawayBroker {
            plugins: vec!["rabbitmq_mqtt".to_owned()],
            ..ThrowawayBroker::default()
        };
        let broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
        Self { broker, bench }
    }

    fn top(&self, arguments: &str) -> Value {
        let (home, mapper) = (self.broker.distribution().0, self.broker.port_mapper());
        let (node, cookie) = (self.broker.node_name(), home.join(".erlang.cookie"));
        let asked = format!(
            "top {arguments} --json --node {node} --epmd-port {mapper} --cookie-file {}",
            cookie.display()
        );
        serde_json::from_str(&self.bench.rabbitscope(&asked).code(0).stdout).unwrap()
    }

    fn mqtt(&self) -> TcpStream {
        let text = |text: &str| [&short(text.len())[..], text.as_bytes()].concat();
        let (user, password) = self.broker.login();
        let rest = [text("MQTT"), vec![4, 0xc2, 0, 60], text("device"), text(user), text(password)];
        let rest = rest.concat();
        let port =
            self.broker.listeners.iter().find(|listener| listener.protocol == "mqtt").unwrap().port;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let connect = [&[0x10, u8::try_from(rest.len()).unwrap()][..], &rest].concat();
        stream.write_all(&connect).unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, [0x20, 2, 0, 0]);
        stream
    }
}

fn short(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap().to_be_bytes()
}

/// Publishes without a subscriber until it is told to stop.
fn publish(stream: &mut TcpStream, stop: &AtomicBool) {
    let message = [&[0x30, 103][..], &short(1), b"t", &[b'x'; 100]].concat();
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
    assert_eq!(node.broker.eval(DECLARE).unwrap(), "ok");
    let rate = |top: &Value, name: &str| {
        let rows = top["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        row["in-per-second"].clone()
    };
    let queues = node.top("queues --interval 500ms");
    assert_eq!(queues["rates-known"], true, "{queues}");
    assert_eq!(rate(&queues, "classic"), 0.0);
    assert_eq!(rate(&queues, "stream"), Value::Null);

    let mut stream = node.mqtt();
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
                eval("erlang:system_flag(microstate_accounting, false)");
                thread::sleep(Duration::from_millis(100));
            }
        });
        let top = bench.rabbitscope(&format!("top {} --interval 2s", node_arguments()));
        ended.store(true, Ordering::Relaxed);
        let top = top.code(0);
        assert!(top.stdout.contains("thread activity is unknown"), "{top:#?}");
    });
}
