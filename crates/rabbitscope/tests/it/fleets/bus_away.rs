//! A fleet whose bus goes away in the middle of a run.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use rabbitscope_testing::{Ends, Stops, Workbench, own_broker, signal};
use rustix::process::Signal;

use super::workers::scenario;

/// Waits until a program says this on standard error.
fn await_words(program: &mut Child, words: &str) {
    let stderr = BufReader::new(program.stderr.take().unwrap());
    let mut said = stderr.lines().map_while(Result::ok);
    assert!(said.any(|line| line.contains(words)), "it ended without {words}");
    // The rest has to go somewhere.
    std::thread::spawn(move || said.for_each(drop));
}

#[test]
fn ctrl_c_does_not_wait_for_a_bus_that_is_away() {
    let bench = Workbench::new("bus-away");
    let (bus, broker) = (own_broker(), own_broker());
    bench.file("s.toml", scenario("bus-away", "60s"));
    let via = format!("--via {} --fleet away", bus.uri());
    let mut worker = bench.command(&format!("worker {via}"));
    let worker = worker.stderr(Stdio::null()).spawn().unwrap();
    let line = format!("run s.toml --workers 1 {via} --uri {} --out out --plain", broker.uri());
    let mut controller = bench.start(&line);
    bench.await_seconds("out", 2);
    bus.kill();
    await_words(&mut controller, "reconnecting, the load continues");
    signal(&controller, Signal::INT);
    let asked = Instant::now();
    let ended = controller.ended().code(1);
    let took = asked.elapsed();
    // It writes the report, and does not wait 10 s for an answer.
    assert!(took < Duration::from_secs(4), "{took:?}: {ended:#?}");
    assert!(ended.stdout.contains("cannot be told to stop"), "{ended:#?}");
    worker.killed();
}
