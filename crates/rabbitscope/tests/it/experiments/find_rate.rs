//! `find-rate`: the search for the highest rate.

use rabbitscope_testing::{Ends, Workbench, existing_broker, scenario::Scenario};

#[test]
fn a_limit_that_cannot_hold_is_found() {
    let bench = Workbench::new("find-rate");
    bench.file("s.toml", Scenario::steady("searched", "1s"));
    let range = "--min 100 --max 200 --step-time 3s --warm-up 1s";
    let uri = existing_broker().uri();
    let mut command =
        bench.command(&format!("find-rate s.toml --uri {uri} --out out --json {range}"));
    let found = command.args(["--slo", "confirm.p99 < 1ns"]).ended().code(3).json();
    assert_eq!(found["outcome"], "nothing", "{found:#}");
    let step = &found["steps"][0];
    assert_eq!(step["offered"], 100.0, "{step:#}");
    let reason = match step["verdict"].as_str().unwrap() {
        "failed" => "confirm-intended.p99",
        // This machine is itself a guest with a busy host: the step shows nothing, and its reason says so.
        "disturbed" => "the host took",
        other => panic!("{other}: {step:#}"),
    };
    let mut reasons = step["reasons"].as_array().unwrap().iter();
    assert!(reasons.any(|text| text.as_str().unwrap().contains(reason)), "{step:#}");
    assert_eq!(found, bench.json("out/find-rate.json"));
    assert!(bench.read("out/find-rate.html").contains("\"kind\":\"table\""));
    assert!(bench.json("out/steps/01-100/run.json")["load"]["published"].as_u64().unwrap() > 300);
}
