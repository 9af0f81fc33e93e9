//! Signals that end, hang up or stop the program, and SIGSTOP for the node.

use std::{thread, time::Duration};

use rustix::process::Signal;

use super::{campaign::Extent, random::Random, table::Table, world::World};
use rabbitscope_testing::{kernel_programs_of, pause, signal};

fn commands(world: &World) -> [(&'static str, String); 6] {
    let (uri, pid, node) = (world.broker.uri(), world.broker.pid, world.node());
    [
        ("run", format!("run run.toml --set run.duration=8s --uri {uri} --out out/run")),
        ("profile", format!("profile --pid {pid} --no-names --duration 6s -o out/result.pb.gz")),
        (
            "trace",
            format!("trace timer:sleep/1 --process busy --limit 100000 --duration 6s {node}"),
        ),
        ("calltree", format!("calltree lists:reverse/1 --duration 6s {node} -o out/result.folded")),
        ("queues --watch", format!("queues --watch {node}")),
        ("queues --listen", format!("queues --listen 127.0.0.1:0 {node}")),
    ]
}

pub(super) fn run(world: &World, extent: Extent, random: &mut Random, table: &mut Table) {
    let commands = commands(world);
    for (name, arguments) in &commands {
        for (how, word) in [(Signal::HUP, "SIGHUP"), (Signal::TERM, "SIGTERM")] {
            // A sample sends SIGTERM only to a run, because SIGTERM has its own tests.
            let is_rare = how == Signal::TERM && *name != "run" && extent == Extent::Sample;
            for _ in 0..if is_rare { 0 } else { extent.count(3, 3) } {
                ask_for_the_end(world, how, (&format!("{word}: {name}"), arguments), table);
            }
        }
    }
    // Commands that do not end by themselves are left out.
    let bounded = &commands[..4];
    for (name, arguments) in bounded {
        for _ in 0..extent.count(2, 2) {
            let instant = random.instant(Duration::from_secs(2));
            stop_the_node(world, instant, (name, arguments), table);
        }
    }
    let stopped = if extent == Extent::Whole { &bounded[..3] } else { &bounded[2..3] };
    for (name, arguments) in stopped {
        stop_the_program(world, (name, arguments), table);
    }
}

/// The command ends itself, with its recorded data.
fn ask_for_the_end(world: &World, how: Signal, (what, command): (&str, &str), table: &mut Table) {
    let child = world.start(command);
    if what.ends_with("run") {
        // Only a run that has begun has a record.
        world.bench.await_seconds("out/run", 1);
    } else {
        thread::sleep(Duration::from_millis(2500));
    }
    let programs = kernel_programs_of(child.id());
    signal(&child, how);
    let mut outcome = world.outcome(child, &programs);
    if !outcome.code.starts_with("exit") {
        outcome.leftovers.push(format!("it did not end itself: {}", outcome.code));
    }
    if what.ends_with("run") && !world.bench.path("out/run/run.json").is_file() {
        outcome.leftovers.push("a run that was asked to end has no record".to_owned());
    }
    table.add(what, outcome);
}

/// Stops the node for longer than a local connection takes to notice a missing heartbeat, but not to give up.
fn stop_the_node(
    world: &World,
    instant: Duration,
    (name, command): (&str, &str),
    table: &mut Table,
) {
    let child = world.start(command);
    thread::sleep(instant);
    let programs = kernel_programs_of(child.id());
    pause(world.broker.pid, Duration::from_secs(4));
    table.add(&format!("SIGSTOP of the node for 4 s: {name}"), world.outcome(child, &programs));
}

/// Stops the program for longer than the node waits for a sign of life.
fn stop_the_program(world: &World, (name, command): (&str, &str), table: &mut Table) {
    let child = world.start(&format!("{command}{}", dead_man(name)));
    thread::sleep(Duration::from_millis(2500));
    let programs = kernel_programs_of(child.id());
    signal(&child, Signal::STOP);
    thread::sleep(Duration::from_secs(9));
    signal(&child, Signal::CONT);
    let what = format!("SIGSTOP of the program for 9 s: {name}");
    table.add(&what, world.outcome(child, &programs));
}

fn dead_man(name: &str) -> &'static str {
    if name == "trace" { " --dead-man 4s" } else { "" }
}
