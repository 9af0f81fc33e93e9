//! `watch --serve`: the live page of all recorded nodes.

use rabbitscope_testing::{Ends, Served, Workbench, own_broker, signal};
use rustix::process::Signal;

use crate::live::viewer::{Viewer, profile};

#[test]
fn each_node_has_a_row_while_it_runs() {
    let Some(bench) = Workbench::for_root("watch-page") else { return };
    let (first, second) = (own_broker().take(), own_broker().take());
    let configuration = |frequency: u32| {
        format!(
            "[record]\nfrequency = {frequency}\nwindow = '2s'\n[nodes]\nonly = ['{}*', '{}*']\n[inside]\nask = true\n",
            first.name, second.name
        )
    };
    bench.file("watch.toml", configuration(99));
    let served = Served::start(&bench, "watch --config watch.toml --serve");
    let mut viewer = Viewer::open(&served);
    let mut names = [&first, &second].map(|broker| broker.node_name());
    names.sort_unstable();
    let has_rows = |viewer: &Viewer, expected: &[String]| {
        let mut shown = viewer.column("nodes", 0);
        shown.sort_unstable();
        shown == expected
    };
    viewer.until("a row for each node", |viewer| has_rows(viewer, &names));
    assert!(viewer.blocks["limit"]["brief"]["limit"].is_string(), "{:#}", viewer.blocks["limit"]);
    assert_ne!(viewer.blocks["limit"]["brief"]["certainty"], "certain", "a window has few sources");
    let lines = viewer.blocks["charts"]["charts"][0]["marks"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{lines:?}");
    viewer.until("stacks", |viewer| !viewer.tick["profile"].is_null());
    let stacks_of = |name: &str| profile(&served).1.contains(name);
    viewer.until("stacks of both nodes", |_| names.iter().all(|name| stacks_of(name)));

    // Ticks of another frequency go on in the same page.
    bench.file("watch.toml", configuration(49));
    signal(&served.child, Signal::HUP);
    let last = viewer.tick.clone();
    viewer
        .until("another window", |viewer| viewer.tick != last && !viewer.tick["profile"].is_null());
    assert!(stacks_of(&first.node_name()));

    second.kill();
    viewer.until("the row of the node that ended goes", |viewer| {
        has_rows(viewer, &[first.node_name()])
    });
    signal(&served.child, Signal::INT);
    viewer.until("the end", |viewer| viewer.end.is_some());
    let Served { child, .. } = served;
    child.ended().code(0);
}
