//! Independent brokers under one load.

use crate::workbench::Workbench;

const SCENARIO: &str = r#"
name = "several"
[run]
duration = "4s"
[broker]
nodes = 2
cluster = false
[[queues]]
name = "q"
[[publishers]]
queue = "q"
count = 2
connections = 2
rate = 100
confirm-window = 100
mandatory = true
[[consumers]]
queue = "q"
count = 2
connections = 2
prefetch = 10
"#;

#[test]
fn each_has_the_queues_and_its_share_of_the_load() {
    let bench = Workbench::new("several-brokers");
    bench.file("several.toml", SCENARIO);
    let ended = bench.rabbitscope("run several.toml --out out").code(0);
    assert!(ended.stdout.contains("2 independent brokers"), "{ended:?}");
    let record = bench.json("out/run.json");
    let count = |key: &str| record["load"][key].as_u64().unwrap_or_default();
    // If one broker lacked the queue, half of the messages would be lost.
    assert_eq!(count("returned"), 0);
    let (published, consumed) = (count("published"), count("consumed"));
    assert!(published > 700 && consumed + 20 > published, "{published} {consumed}");
    assert_eq!(record["broker"]["nodes"].as_array().unwrap().len(), 2);
}
