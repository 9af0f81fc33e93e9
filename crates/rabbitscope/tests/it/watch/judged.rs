//! The limit of each window as a metric, and a check of the windows afterwards.

use rabbitscope_testing::{
    Stops, Workbench, eventually, free_address, http, own_broker,
    scenario::{Consumers, Publishers, Queue, Scenario},
};
use rustix::process::Signal;

use super::watched::Watched;

#[test]
fn windows_have_a_limit_and_can_be_checked() {
    let Some(bench) = Workbench::for_root("judged") else { return };
    let (broker, listen) = (own_broker(), free_address());
    let name = &broker.name;
    bench.file(
        "watch.toml",
        format!(
            "[record]\nfrequency = 99\nwindow = '4s'\noff-cpu = true\n[nodes]\nonly = ['{name}*']\n\
             [metrics]\nlisten = '{listen}'\ninterval = '1s'\n[directory]\npath = 'windows'\n"
        ),
    );
    let scenario = Scenario::new("judged")
        .duration("5m")
        .queues(Queue::new("judged"))
        .publishers(Publishers::new("judged").rate(500))
        .consumers(Consumers::new("judged").prefetch(100));
    let load = bench.start_run(&broker, scenario, 1);
    let watched = Watched::start(bench);
    watched.wait_for_words("metrics at http");
    let limit = format!("node=\"{}\"", broker.node_name());
    eventually("a window has a limit", || {
        let metrics = http::get(listen, "/metrics", "");
        let mut lines = metrics.lines().filter(|line| line.starts_with("rabbitscope_limit{"));
        // Without the node's own figures no window can be certain, and none can say that nothing limits.
        lines.any(|line| {
            line.contains(&limit) && !line.contains("nothing") && !line.contains("\"certain\"")
        })
    });
    watched.wait_for_windows("~cpu~", 2);
    watched.wait_for_windows("~off-cpu~", 2);
    load.ended_by(Signal::INT);
    let bench = &watched.bench;
    let check = |options: &str| bench.rabbitscope(&format!("check windows {options}"));
    let report = check(&format!("--node {name} --from 10m --json")).code(0).json();
    assert_eq!(report["node"], broker.node_name(), "{report:#}");
    assert!(report["figures"]["samples"].as_u64().unwrap() > 10, "{report:#}");
    assert!(!report["figures"]["processes"].as_array().unwrap().is_empty(), "{report:#}");
    assert_ne!(report["limit"]["kind"], "nothing", "{report:#}");
    assert_ne!(report["limit"]["certainty"], "certain", "{report:#}");
    assert!(report["unread"].to_string().contains("windows of `watch` do not have it"));
    check("--to 2h").code(2).says(&["has no such window"]);
    check("--duration 3s").code(2).says(&["cannot be used with"]);
    bench.rabbitscope("check out --from 1h").code(2).says(&["is not a directory of"]);
    bench.rabbitscope("check --from 1h").code(2).says(&["DIR"]);
    watched.kill();
}
