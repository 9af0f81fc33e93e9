//! Independent brokers under one load.

use rabbitscope_testing::{
    Workbench, count,
    scenario::{Consumers, Publishers, Scenario},
};

#[test]
fn each_has_the_queues_and_its_share_of_the_load() {
    let bench = Workbench::new("several-brokers");
    let publishers = Publishers::new("q").count(2).connections(2).rate(100).confirm_window(100);
    let scenario = Scenario::with_queue("q")
        .publishers(publishers.mandatory(true))
        .consumers(Consumers::new("q").count(2).connections(2).prefetch(10))
        .duration("4s")
        .nodes(2)
        .cluster(false);
    bench.file("several.toml", scenario);
    let ended = bench.rabbitscope("run several.toml --out out").code(0);
    assert!(ended.stdout.contains("2 independent brokers"), "{ended:?}");
    let record = bench.json("out/run.json");
    // If one broker lacked the queue, half of the messages would be lost.
    assert_eq!(count(&record, "returned"), 0);
    let (published, consumed) = (count(&record, "published"), count(&record, "consumed"));
    assert!(published > 700 && consumed + 20 > published, "{published} {consumed}");
    assert_eq!(record["broker"]["nodes"].as_array().unwrap().len(), 2);
}
