//! `broker start`, `status`, `stop`.

use std::{fs, net::TcpStream};

use rabbitscope_testing::{Stops, Workbench, eventually, processes_showing, scenario::Scenario};

#[test]
fn a_broker_that_stays_until_it_is_stopped() {
    let bench = Workbench::new("broker");
    bench.file("rabbitmq.conf", "channel_max = 42\n");
    let plugins = "--plugins rabbitmq_mqtt,rabbitmq_stream";
    let started = bench
        .rabbitscope(&format!("broker start --json --config rabbitmq.conf {plugins}"))
        .code(0)
        .json();
    let name = started["name"].as_str().unwrap();
    let log = || fs::read_to_string(started["log"].as_str().unwrap()).unwrap();
    eventually("the log is written", || log().contains("Server startup complete"));

    let port_of = |protocol: &str| {
        let listeners = started["listeners"].as_array().unwrap();
        let found = listeners.iter().find(|listener| listener["protocol"] == protocol);
        u16::try_from(found.unwrap()["port"].as_u64().unwrap()).unwrap()
    };
    let text = bench.rabbitscope("broker status").code(0).stdout;
    for protocol in ["amqp", "mqtt", "stream"] {
        let port = port_of(protocol);
        TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert!(text.contains(&format!("127.0.0.1:{port} {protocol}\n")), "{text}");
    }
    assert!(port_of("mqtt") != port_of("stream"));
    let password = started["uri"].as_str().unwrap().split([':', '@']).nth(2).unwrap();
    assert!(text.contains(password) && !log().contains(password));
    assert_eq!(processes_showing(password), [0; 0]);

    let listed = bench.rabbitscope("broker status --json").code(0).json();
    assert_eq!(listed, serde_json::json!([started]));

    bench.rabbitscope("broker stop nobody").code(5).says(&["nobody", name]);
    assert_eq!(bench.rabbitscope("broker stop").code(0).stdout, format!("stopped {name}\n"));
    bench.assert_nothing_left();
    let listed = bench.rabbitscope("broker status").code(0);
    assert_eq!(listed.stdout, "no throwaway broker runs\n");
}

/// A cluster counts as one broker: it is started, listed, queried and stopped as one, and a run loads all of its
/// nodes.
#[test]
fn a_cluster_is_one_broker() {
    let bench = Workbench::new("cluster");
    let started = bench.rabbitscope("broker start --nodes 2 --json").code(0).json();
    let name = started[0]["name"].as_str().unwrap();
    assert_eq!(started[1]["name"], name);
    let second = started[1]["node-name"].as_str().unwrap();
    assert_eq!(second, format!("{name}-2@localhost"));
    let queues = bench.rabbitscope(&format!("queues --node {second} --json")).code(0);
    assert!(queues.stdout.starts_with('{'), "{queues:#?}");
    bench.rabbitscope("queues --json").code(0);
    assert_eq!(bench.rabbitscope("broker stop").code(0).stdout, format!("stopped {name}\n"));
    bench.assert_nothing_left();

    bench.file("s.toml", Scenario::steady("clustered", "2s"));
    bench.rabbitscope("run s.toml --set broker.nodes=2 --set publishers.0.count=4 --set publishers.0.connections=4 --out out").code(0);
    let record = bench.json("out/run.json");
    let nodes = record["broker"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2, "{record:#}");
    for log in ["out/broker.log", "out/broker-2.log"] {
        assert!(bench.read(log).contains("accepting AMQP connection"), "{log}");
    }
    bench.assert_nothing_left();
}

#[test]
fn a_broker_that_was_killed_with_its_guard_is_cleaned_up_after() {
    let bench = Workbench::new("stale");
    bench.rabbitscope("broker start").code(0);
    bench.end_processes();
    eventually("the processes are gone", || bench.processes().is_empty());
    assert_eq!(bench.broker_directories().len(), 1, "nobody was left to remove it");

    let ended = bench.rabbitscope("broker status").code(0);
    assert!(ended.stderr.contains("removed leftovers of"), "{ended:#?}");
    assert!(bench.broker_directories().is_empty());
}

/// The user could not stop such a broker, because it has no name yet for `broker stop`.
#[test]
fn a_start_that_is_killed_leaves_no_broker() {
    let bench = Workbench::new("killed-start");
    let starting = bench.start("broker start");
    eventually("the node is being started", || bench.processes().len() > 3);
    starting.killed();
    bench.assert_nothing_left();
}
