//! Runs that end because a limit has failed for good.

use rabbitscope_testing::{
    Workbench,
    scenario::{Publishers, Scenario},
};

fn unroutable(returned: &str) -> Scenario {
    let publishers = Publishers::through("amq.direct", "nobody-is-bound-to-this").mandatory(true);
    Scenario::new("stopped")
        .publishers(publishers.rate(100).confirm_window(100))
        .duration("60s")
        .expect("returned", returned)
}

#[test]
fn a_limit_that_has_failed_for_good_ends_the_run() {
    let bench = Workbench::new("stopped");
    let ended = bench.run_with(unroutable("== 0"), "--stop-on-failure");
    let text = ended.code(3).stdout;
    assert!(text.contains("Stopped early, because returned == 0 had failed for good"), "{text}");
    let record = bench.json("out/run.json");
    assert_eq!(record["verdict"]["kind"], "stopped", "{record:#}");
    assert!(record["duration-nanos"].as_u64().unwrap() < 30_000_000_000);
    assert_eq!(record["expectations"][0]["passed"], false);
}

#[test]
fn a_failure_that_cannot_be_seen_is_not_waited_for() {
    let bench = Workbench::new("unstoppable");
    let ended = bench.run_with(unroutable("< 1%"), "--set run.stop-on-failure=true");
    ended.code(2).says(&["can fail before the end"]);
}
