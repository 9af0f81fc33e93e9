//! `check --uri`: what one AMQP connection shows, and that it leaves nothing.

use std::{
    fs, io,
    net::{Shutdown, TcpListener, TcpStream},
    thread,
};

use rabbitscope_testing::{
    Ends, Stops, Workbench, eventually, is_root, own_broker, plant, queues_on,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;

use super::limits::text;

const CONNECTIONS: &str = "length(rabbit_networking:local_connections())";

#[test]
fn a_login_shows_answers_and_queues() {
    let (bench, broker) = (Workbench::new("check-amqp"), own_broker());
    let scenario = Scenario::new("amqp")
        .duration("5m")
        .queues(Queue::new("orders"))
        .publishers(Publishers::new("orders").rate(200))
        .consumers(Consumers::new("orders").prefetch(10).processing_time("50ms"));
    let load = bench.start_run(&broker, scenario, 2);
    let before = broker.eval(CONNECTIONS).unwrap();
    let arguments =
        format!("check --uri {} --duration 4s --queue orders --queue missing --json", broker.uri());
    let report = bench.rabbitscope(&arguments).code(0).json();
    let amqp = &report["amqp"];
    assert_eq!(amqp["product"], "RabbitMQ", "{report:#}");
    assert!(amqp["round-trips"]["count"].as_u64().unwrap() >= 5, "{amqp:#}");
    let orders = &amqp["queues"][0];
    assert_eq!(orders["at-end"]["consumers"], 1, "{amqp:#}");
    let ready = |at: &str| orders[at]["ready"].as_u64().unwrap();
    assert!(ready("at-end") > ready("at-start"), "{amqp:#}");
    assert!(text(&amqp["queues"][1], "refusal").starts_with("NOT_FOUND"), "{amqp:#}");
    assert_ne!(report["limit"]["certainty"], "certain", "{report:#}");
    assert!(report["unread"].to_string().contains("--node"), "{report:#}");
    // The refusal of the check's own question is no problem of a client.
    assert!(!report["findings"].to_string().contains("NOT_FOUND"), "{report:#}");
    assert!(!queues_on(&broker).contains("missing"));
    eventually("its connection is closed", || broker.eval(CONNECTIONS).unwrap() == before);
    load.ended_by(Signal::INT);
}

/// An ordinary user of a broker with an alarm, of which RabbitMQ tells publishers only.
#[test]
fn a_stranger_is_not_told_that_nothing_limits() {
    if !is_root() {
        return;
    }
    let (bench, broker) = (Workbench::new("check-amqp-stranger"), own_broker());
    let copy = bench.path("rabbitscope");
    fs::copy(rabbitscope_testing::program(), &copy).unwrap();
    bench.command_line("chmod 755 . tmp rabbitscope").ended().code(0);
    let alarm = |action: &str| {
        plant(&broker, &format!("rabbit_alarm:{action}({{resource_limit, disk, node()}}), ok"));
    };
    plant(&broker, "rabbit_alarm:set_alarm({{resource_limit, disk, node()}, []}), ok");
    let stranger = "timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups";
    let check = format!("{stranger} {} check --uri --duration 3s", copy.display());
    let mut command = bench.command_line(&check);
    command.env("HOME", bench.path("nowhere")).env("RABBITSCOPE_URI", broker.uri());
    let ended = command.ended().code(0);
    alarm("clear_alarm");
    assert!(ended.stdout.starts_with("limit     cannot tell, because"), "{ended:#?}");
    for words in ["amqp      RabbitMQ ", "not read  the node: ", "only connections that publish"] {
        assert!(ended.stdout.contains(words), "`{words}` is not in {ended:#?}");
    }
}

#[test]
fn a_broker_that_does_not_answer() {
    let bench = Workbench::new("check-amqp-nobody");
    let ended = bench.rabbitscope("check --uri amqp://127.0.0.1:1 --duration 3s").code(5);
    assert!(ended.stdout.contains("cannot reach a broker at 127.0.0.1:1"), "{ended:#?}");
    bench.rabbitscope("check --queue orders").code(2).says(&["--uri"]);
    let many = "--queue q ".repeat(21);
    let refused = bench.rabbitscope(&format!("check --uri amqp://127.0.0.1:1 {many}"));
    refused.code(2).says(&["at most 20 names"]);
    bench.rabbitscope("check --uri http://h").code(2).says(&["must start with `amqp://`"]);
    bench.rabbitscope("check --uri").code(2).says(&["RABBITSCOPE_URI"]);
}

/// A forwarded port stands for another machine: no process of the node is seen behind it.
#[test]
fn a_broker_elsewhere_is_asked_for_the_whole_time() {
    let (bench, broker) = (Workbench::new("check-amqp-elsewhere"), own_broker());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = broker.uri();
    let (login, address) = uri.rsplit_once('@').unwrap();
    let port = address.split_once('/').map_or(address, |(authority, _)| authority);
    let port: u16 = port.rsplit_once(':').unwrap().1.parse().unwrap();
    let forwarded = format!("{login}@127.0.0.1:{}", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for client in listener.incoming() {
            let (client, node) =
                (client.unwrap(), TcpStream::connect(("127.0.0.1", port)).unwrap());
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), node.try_clone().unwrap()), (node, client)]
            {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    let ended = bench.rabbitscope(&format!("check --uri {forwarded} --duration 4s --json"));
    let report = ended.json();
    assert!(report["duration-nanos"].as_u64().unwrap() >= 3_900_000_000, "{report:#}");
    let count = report["amqp"]["round-trips"]["count"].as_u64();
    assert!(count.is_some_and(|count| count >= 10), "{report:#}");
}
