//! Latencies by group and by queue.

use crate::workbench::{Workbench, existing_broker};

const TWO_QUEUES: &str = r#"
name = "apart"
run = { duration = "2s", latency-by-queue = true }
queues = [{ name = "apart-{}", from = 1, to = 2 }]
publishers = [
    { name = "fast", queue = "apart-1", rate = 300, confirm-window = 100 },
    { name = "slow", queue = "apart-2", rate = 100, confirm-window = 100 },
]
consumers = [{ name = "both", queue = "apart-{}", count = 2, prefetch = 10 }]
"#;

#[test]
fn groups_and_queues_have_latencies_of_their_own() {
    let bench = Workbench::new("apart");
    bench.file("s.toml", TWO_QUEUES);
    let uri = existing_broker().uri();
    let text = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0).stdout;
    assert!(text.contains("\nby group") && text.contains("\napart-2 "), "{text}");
    let record = bench.json("out/run.json");
    let breakdown = &record["breakdown"];
    let count = |kind: &str, at: usize, latency: &str| {
        let latencies = breakdown[kind][at]["latencies"].as_array().unwrap();
        let found = latencies.iter().find(|row| row["name"] == latency);
        found.unwrap_or_else(|| panic!("{breakdown:#}"))["count"].as_u64().unwrap()
    };
    assert_eq!(breakdown["groups"][1]["group"], "slow", "{breakdown:#}");
    let (fast, slow) = (count("groups", 0, "confirm"), count("groups", 1, "confirm"));
    assert!(fast > 2 * slow && slow > 50, "{breakdown:#}");
    let total = |name: &str| {
        let all = record["latencies"].as_array().unwrap();
        all.iter().find(|row| row["name"] == name).unwrap()["count"].as_u64().unwrap()
    };
    assert_eq!(fast + slow, total("confirm"));
    let queues = [count("queues", 0, "end-to-end"), count("queues", 1, "end-to-end")];
    assert_eq!(queues, [fast, slow], "every message was confirmed and came");
    assert_eq!(queues[0] + queues[1], total("end-to-end"));
    assert_eq!(count("groups", 2, "end-to-end"), total("end-to-end"));
}
