//! `serve --node`: the page of a running node.

use std::{fs, thread, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{
    Ends, PUBLISH, Served, Stops, Workbench, evaluate, eventually, is_root, may_profile,
    node_options, own_broker, plant, signal,
};
use rustix::process::Signal;

use super::viewer::{Viewer, profile};
use crate::{
    check::limits::dead_letters,
    inside::remains::{LOADED, assert_nothing_left, await_work, busy_broker},
};

/// Limits that other tests can cause meanwhile.
const OF_THE_MACHINE: [&str; 3] = ["host", "schedulers", "unknown"];

fn serve(bench: &Workbench, broker: &Broker) -> Served {
    Served::start(bench, &format!("serve {}", node_options(broker)))
}

/// Returns whether the page names the queue `checked-full` as the limit. Where other tests take the CPU, the limit is the
/// machine's, and a finding names the queue. A wrong limit must not be certain.
fn is_limited_by_queue(viewer: &Viewer) -> bool {
    let brief = &viewer.blocks["limit"]["brief"];
    let found = brief["kind"].as_str().unwrap_or_default();
    let is_known = ["process", ""].contains(&found) || OF_THE_MACHINE.contains(&found);
    assert!(is_known || brief["certainty"] != "certain", "{brief:#}");
    let of_queue = |text: &serde_json::Value| text.to_string().contains("checked-full");
    match found {
        "process" => of_queue(&brief["limit"]),
        "host" => of_queue(&brief["findings"]),
        _ => false,
    }
}

#[test]
fn a_saturated_queue_is_named_and_first() {
    let (bench, broker) = (Workbench::new("live-queue"), own_broker());
    let load = bench.start_run(&broker, dead_letters(), 3);
    let served = serve(&bench, &broker);
    let mut viewer = Viewer::open(&served);
    viewer.until("the limit is the queue", is_limited_by_queue);
    assert_eq!(viewer.column("queues", 0)[0], "checked-full", "{:#}", viewer.blocks["queues"]);
    let flow = viewer.blocks["flow"].to_string();
    assert!(flow.contains("waits for queue checked-full"), "{flow}");
    let tiles = viewer.blocks["tiles"]["figures"].as_array().unwrap();
    let value = |name: &str| {
        let tile = tiles.iter().find(|tile| tile["name"] == name);
        tile.unwrap_or_else(|| panic!("no tile {name}: {tiles:#?}"))["value"].as_f64().unwrap()
    };
    assert!(value("Published") > 10.0 && value("CPU") > 0.1, "{tiles:#?}");
    if may_profile() {
        viewer.until("a window of the profile", |viewer| !viewer.tick["profile"].is_null());
        let (profile, columns) = profile(&served);
        assert!(profile["to"].as_u64() > profile["from"].as_u64(), "{:#}", profile["from"]);
        assert!(columns.contains("rabbit_amqqueue_process:"), "{columns:.500}");
        let owners = profile["profile"]["owners"].to_string();
        assert!(owners.contains("checked-full"), "{owners:.500}");
    }
    signal(&served.child, Signal::INT);
    viewer.until("the end", |viewer| viewer.end.is_some());
    load.ended_by(Signal::INT);
}

/// Names of queues are texts of others.
#[test]
fn hostile_names_stay_texts() {
    let (bench, broker) = (Workbench::new("live-names"), own_broker());
    let name = "<script>alert('1')</script>\\\"\\n\\x1b[2J\\x{202e}x";
    plant(
        &broker,
        &format!(
            "Queue = unicode:characters_to_binary(\"{name}\"), \
             {{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, Queue), true, false, [], none, \
             <<\"app\">>), Publish = {PUBLISH}, [Publish(<<\"/\">>, Queue, <<\"x\">>) || _ <- [1, 2, 3]], ok"
        ),
    );
    let served = serve(&bench, &broker);
    let mut viewer = Viewer::open(&served);
    viewer.until("a look", |viewer| !viewer.column("queues", 0).is_empty());
    let shown = "<script>alert('1')</script>\"\\n\\x1b[2J\\u{202e}x";
    assert_eq!(viewer.column("queues", 0), [shown]);
    assert_eq!(viewer.blocks["queues"]["rows"][0][2]["value"], 3.0, "ready messages");
    served.child.killed();
}

#[test]
fn without_a_viewer_nothing_is_in_the_node() {
    let bench = Workbench::new("live-unviewed");
    let broker = busy_broker(&bench);
    assert_nothing_left(&broker, "the preparation");
    let served = serve(&bench, &broker);
    thread::sleep(Duration::from_secs(3));
    assert_nothing_left(&broker, "a page without a viewer");
    let mut viewer = Viewer::open(&served);
    viewer.until("a tick", |viewer| !viewer.tick.is_null());
    await_work(&broker, "a page");
    drop(viewer);
    assert_nothing_left(&broker, "a page whose viewer has gone");
    let mut viewer = Viewer::open(&served);
    let last = viewer.tick.clone();
    viewer.until("another tick", |viewer| viewer.tick != last);
    await_work(&broker, "a page with a viewer again");
    served.child.killed();
    assert_nothing_left(&broker, "a killed page");
}

#[test]
fn a_killed_page_leaves_nothing() {
    let bench = Workbench::new("live-killed");
    let broker = busy_broker(&bench);
    for delay in [0, 300, 2_000, 9_000].map(Duration::from_millis) {
        let served = serve(&bench, &broker);
        let viewer = Viewer::open(&served);
        eventually("the page is on the node", || evaluate(&broker, LOADED) == "true");
        thread::sleep(delay);
        served.child.killed();
        drop(viewer);
        assert_nothing_left(&broker, "a killed page");
    }
}

#[test]
fn a_page_goes_on_when_the_node_is_back() {
    let (bench, mut broker) = (Workbench::new("live-restart"), own_broker().take());
    let served = serve(&bench, &broker);
    let by_pid = Served::start(&bench, &format!("serve --pid {}", broker.pid));
    let (mut viewer, mut other) = (Viewer::open(&served), Viewer::open(&by_pid));
    let has_cpu = |viewer: &Viewer| viewer.blocks["tiles"].to_string().contains("Run queue");
    viewer.until("figures of the node", has_cpu);
    broker.kill();
    let says = |viewer: &Viewer, text: &str| viewer.blocks["state"].to_string().contains(text);
    viewer.until("the end of the node", |viewer| says(viewer, "ended at"));
    other.until("the end of the process", |viewer| viewer.end.is_some());
    let sentence = other.end.unwrap()["sentence"].to_string();
    assert!(sentence.contains("has ended"), "{sentence}");
    broker.start_again().unwrap();
    viewer.until("its return", |viewer| !says(viewer, "ended at"));
    let last = viewer.tick.clone();
    viewer.until("figures again", |viewer| viewer.tick["at"] != last["at"] && has_cpu(viewer));
    served.child.killed();
}

/// A user without the cookie and without any capability.
#[test]
fn a_stranger_sees_the_process_and_what_is_missing() {
    if !is_root() {
        return;
    }
    let (bench, broker) = (Workbench::new("live-stranger"), own_broker());
    let copy = bench.path("rabbitscope");
    fs::copy(rabbitscope_testing::program(), &copy).unwrap();
    bench.command_line("chmod 755 . tmp rabbitscope").ended().code(0);
    let stranger = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let arguments = format!("{stranger} {} serve --pid {}", copy.display(), broker.pid);
    let mut command = bench.command_line(&arguments);
    let served = Served::of(command.env("HOME", bench.path("nowhere")).spawn().unwrap());
    let mut viewer = Viewer::open(&served);
    let text = |viewer: &Viewer, block: &str| viewer.blocks[block].to_string();
    viewer.until("a look", |viewer| text(viewer, "unread").contains("Next step"));
    let unread = text(&viewer, "unread");
    assert!(unread.contains("cookie"), "{unread}");
    assert!(unread.contains("sudo") || unread.contains("root"), "{unread}");
    assert!(text(&viewer, "tiles").contains("\"CPU\""), "{}", text(&viewer, "tiles"));
    served.child.killed();
}

#[test]
fn a_directory_and_a_node_exclude_each_other() {
    let bench = Workbench::new("live-arguments");
    bench.rabbitscope("serve . --node rabbit").code(2).says(&["--node"]);
    bench.rabbitscope("serve").code(2).says(&["--node"]);
    bench.rabbitscope("serve --pid 1 --node rabbit").code(2).says(&["--pid"]);
    bench.rabbitscope("serve --pid 1").code(2).says(&["no Erlang VM"]);
    bench.rabbitscope("serve --node nobody@localhost --epmd-port 1").code(5).says(&["epmd"]);
}
