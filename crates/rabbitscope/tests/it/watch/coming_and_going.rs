//! Nodes that come and go, windows in a directory, and the remains after a kill.

use std::fs;

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, own_broker, scenario::Scenario, signal};
use rustix::process::Signal;

use super::watched::{Holdings, Watched};

fn configuration(except: &str, brokers: [&Broker; 2]) -> String {
    let [first, second] = brokers.map(|broker| &broker.name);
    format!(
        "[record]\nfrequency = 99\nwindow = '1s'\n\
         [nodes]\nonly = ['{first}*', '{second}*']\nexcept = [{except}]\n\
         [directory]\npath = 'windows'\n"
    )
}

#[test]
fn nodes_come_and_go_and_nothing_is_left() {
    let Some(bench) = Workbench::for_root("all-day") else { return };
    let (first, mut second) = (own_broker().take(), own_broker().take());
    let brokers = [&first, &second];
    let (good, other) =
        (configuration("", brokers), configuration(&format!("'{}*'", first.name), brokers));
    bench.file("watch.toml", &good);
    bench.file("load.toml", Scenario::steady("q", "3s"));
    let mut watched = Watched::start(bench);
    watched.wait_for_windows(&first.name, 2);
    watched.wait_for_windows(&second.name, 2);
    let bench = &watched.bench;
    bench.rabbitscope(&format!("run load.toml --uri {} --out out", first.uri())).code(0);

    bench.rabbitscope("watch -o windows").code(2).says(&["another watch writes to windows"]);

    bench.file("watch.toml", "[record]\nfrequency = 0");
    signal(&watched.watch, Signal::HUP);
    watched.wait_for_words("watch.toml:2: `record.frequency`: must be from 1 to 999");
    watched.wait_for_words("the previous configuration stays in force");

    let old = format!("~{}.pb.gz", second.pid);
    second.kill();
    watched.wait_for_words(&format!("(pid {}, RabbitMQ", second.pid));
    watched.wait_for_words("has ended");
    second.start_again().unwrap();
    let new = format!("~{}.pb.gz", second.nodes()[0].pid);
    assert_ne!(old, new);
    watched.wait_for_windows(&new, 1);

    bench.file("watch.toml", &other);
    signal(&watched.watch, Signal::HUP);
    watched.wait_for_words("the configuration was reloaded");
    let before = watched.windows(&first.name).len();
    watched.wait_for_windows(&new, 4);
    assert_eq!(watched.windows(&first.name).len(), before, "it is left out now");

    signal(&watched.watch, Signal::TERM);
    assert!(watched.watch.wait().unwrap().success());
    check_pictures(&watched, &first);
    kill(watched, &new);
}

/// Draws the windows: a span, one node, a damaged file.
fn check_pictures(watched: &Watched, first: &Broker) {
    let node = format!("--from 10m --node {}", first.name);
    watched.flamegraph(&format!("{node} -o first.folded")).code(0);
    let stacks = watched.bench.read("first.folded");
    assert!(stacks.contains("rabbit_reader:") || stacks.contains("rabbit_channel:"), "{stacks}");
    let from = format!("windows?from=10m&node={}", first.name);
    watched.bench.rabbitscope(&format!("diff {from} {from} -o diff.html")).code(0);
    watched.flamegraph("--to 2h -o none.svg").code(2).says(&["has no such window"]);
    let damaged = watched.windows(&first.name).remove(0);
    fs::write(&damaged, &fs::read(&damaged).unwrap()[..40]).unwrap();
    let said = watched.flamegraph("-o all.svg").code(0).stderr;
    assert!(said.contains("is left out") && said.contains("1 window is left out"), "{said}");
    watched.bench.rabbitscope("heatmap windows -o day.html").code(0);
    let page = watched.bench.read("day.html");
    assert!(page.contains("\"measure\":\"cores\"") && page.contains(&first.name), "{page}");
}

/// A second watch continues in the directory, and is killed. Nothing stays in the kernel, and no unfinished file
/// remains.
fn kill(watched: Watched, window: &str) {
    let known = watched.windows(window).len();
    let watched = Watched::start(watched.bench);
    watched.wait_for_windows(window, known + 1);
    let programs = Holdings::from_pid(watched.watch.id()).programs.len();
    assert!(programs >= 2, "the clock's and a node's: {programs}");
    watched.kill();
}
