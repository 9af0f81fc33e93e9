//! An observed node that disappears and comes back.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout},
};

use rabbitscope_testing::{Stops, Workbench, declare_queue, node_options, own_broker};
use rustix::process::Signal;
use serde_json::Value;

fn next_listing(lines: &mut BufReader<ChildStdout>, watching: &mut Child) -> Value {
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "it has ended: {:?}", watching.wait());
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_watch_goes_on_when_the_node_is_back() {
    let bench = Workbench::new("watch-restart");
    let mut broker = own_broker();
    let options = node_options(&broker);
    let mut watching = bench.start(&format!("queues --watch --json --interval 300ms {options}"));
    let mut lines = BufReader::new(watching.stdout.take().unwrap());
    assert_eq!(next_listing(&mut lines, &mut watching)["total"], 0);

    broker.kill();
    broker.start_again().unwrap();
    declare_queue(&broker, "q");
    while next_listing(&mut lines, &mut watching)["total"] != 1 {}
    watching.ended_by(Signal::INT).code(0);
}
