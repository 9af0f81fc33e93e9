//! An observed node that disappears and comes back.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout},
};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::workbench::{Workbench, signal};

fn next_listing(lines: &mut BufReader<ChildStdout>, watching: &mut Child) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "it has ended: {:?}", watching.wait());
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_watch_goes_on_when_the_node_is_back() {
    let bench = Workbench::new("watch-restart");
    let spec = ThrowawayBroker::default();
    let mut broker = Broker::start(&spec, &bench.path("broker.log")).unwrap();
    let (home, mapper) = (broker.distribution().0, broker.port_mapper());
    let cookie = home.join(".erlang.cookie");
    let mut watching = bench.start(&format!(
        "queues --watch --json --interval 300ms --node {} --epmd-port {mapper} --cookie-file {}",
        broker.node_name(),
        cookie.display()
    ));
    let mut lines = BufReader::new(watching.stdout.take().unwrap());
    assert_eq!(next_listing(&mut lines, &mut watching)["total"], 0);

    let pid = Pid::from_raw(i32::try_from(broker.pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    broker.start_again().unwrap();
    let declare = "{new, _} = rabbit_amqqueue:declare({resource, <<\"/\">>, queue, <<\"q\">>}, \
        true, false, [], none, <<\"test\">>), ok";
    assert_eq!(broker.eval(declare).unwrap(), "ok");
    while next_listing(&mut lines, &mut watching)["total"] != 1 {}
    signal(&watching, Signal::INT);
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}
