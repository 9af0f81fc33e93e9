//! Runs that end because a limit has failed for good.

use crate::workbench::{Workbench, existing_broker};

const UNROUTABLE: &str = r#"
name = "stopped"
run = { duration = "60s" }
[[publishers]]
exchange = "amq.direct"
routing-key = "nobody-is-bound-to-this"
mandatory = true
rate = 100
confirm-window = 100
[expect]
returned = "== 0"
"#;

#[test]
fn a_limit_that_has_failed_for_good_ends_the_run() {
    let bench = Workbench::new("stopped");
    bench.file("s.toml", UNROUTABLE);
    let uri = existing_broker().uri();
    let ended = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out --stop-on-failure"));
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
    bench.file("s.toml", &UNROUTABLE.replace("returned = \"== 0\"", "returned = \"< 1%\""));
    let uri = existing_broker().uri();
    let typed = format!("run s.toml --uri {uri} --set run.stop-on-failure=true");
    bench.rabbitscope(&typed).code(2).says(&["can fail before the end"]);
}
