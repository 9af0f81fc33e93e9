//! Ends of the end-to-end latency: a delivered message is not yet processed or settled.

use serde_json::Value;

use crate::workbench::{Workbench, existing_broker};

const MILLI: u64 = 1_000_000;

/// Twice as many messages as the consumer can process.
const OVERLOAD: &str = r#"
name = "overload"
run = { duration = "4s" }
queues = [{ name = "overload" }]
publishers = [{ queue = "overload", rate = 100 }]
consumers = [{ queue = "overload", processing-time = "20ms", prefetch = PREFETCH }]
[expect]
end-to-end.p50 = "< 300ms"
delivered.p50 = "< 1h"
settled-intended.p50 = "> 300ms"
"#;

fn p50(record: &Value, name: &str) -> Option<u64> {
    let all = record["latencies"].as_array().unwrap();
    all.iter()
        .find(|latency| latency["name"] == name)
        .map(|latency| latency["p50"].as_u64().unwrap())
}

#[test]
fn a_large_prefetch_hides_no_wait() {
    let bench = Workbench::new("overload");
    let uri = existing_broker().uri();
    let mut processed = Vec::new();
    for prefetch in ["1", "1000"] {
        bench.file("s.toml", &OVERLOAD.replace("PREFETCH", prefetch));
        let command = format!("run s.toml --uri {uri} --out out-{prefetch} --csv {prefetch}.csv");
        let text = bench.rabbitscope(&command).code(3).stdout;
        assert!(
            text.contains("NOT AS EXPECTED: end-to-end.p50 < 300ms, until processed ("),
            "{text}"
        );
        assert!(text.contains("as expected: delivered.p50 < 1h"), "{text}");
        assert!(text.contains("limits on it mean until processed"), "{text}");
        let run = bench.json(&format!("out-{prefetch}/run.json"));
        let [begun, settled] = ["processed", "settled"].map(|name| p50(&run, name).unwrap());
        assert!((15 * MILLI..60 * MILLI).contains(&(settled - begun)), "{begun} {settled}");
        processed.push(begun);
        let counts =
            ["delivered", "consumed", "settled"].map(|name| run["load"][name].as_u64().unwrap());
        assert!(counts[0] >= counts[1] && counts[1] == counts[2], "{counts:?}");
        if prefetch == "1000" {
            assert!(p50(&run, "end-to-end").unwrap() < 100 * MILLI, "{run:#}");
        }
        let csv = bench.read(&format!("{prefetch}.csv"));
        assert!(csv.contains(",processed_p99_ms,") && csv.contains(",settled_intended_p50_ms,"));
        let page = bench.read(&format!("out-{prefetch}/report.html"));
        assert!(page.contains("End to end until processed"), "no chart");
    }
    let [one, many] = processed[..] else { panic!("two runs") };
    // On a busy machine, a prefetch of 1 is slower: the consumer waits for each message.
    assert!(many > one / 3 && many > 300 * MILLI, "{one} {many}");
}

/// Groups with and without separate ends: the sums have every message.
#[test]
fn groups_that_tell_no_ends_apart_are_in_the_sums() {
    let bench = Workbench::new("ends");
    let text = r#"
name = "ends"
run = { duration = "3s" }
queues = [{ name = "ends-at-once" }, { name = "ends-later" }, { name = "ends-many" }]
publishers = [{ queue = "ends-at-once", rate = 50 }, { queue = "ends-later", rate = 50 }, { queue = "ends-many", rate = 50 }]
consumers = [
    { name = "at-once", queue = "ends-at-once" },
    { name = "later", queue = "ends-later", prefetch = 10, rate = 100 },
    { name = "many", queue = "ends-many", prefetch = 40, multi-ack-every = 20 },
]
"#;
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0);
    let run = bench.json("out/run.json");
    let of = |latencies: &Value, name: &str, key: &str| {
        let all = latencies.as_array().unwrap();
        all.iter()
            .find(|latency| latency["name"] == name)
            .map(|latency| latency[key].as_u64().unwrap())
    };
    let all = &run["latencies"];
    let [delivered, processed, settled] =
        ["end-to-end", "processed", "settled"].map(|name| of(all, name, "count").unwrap());
    assert!(delivered == processed && delivered >= settled && settled + 40 > delivered, "{run:#}");
    let groups = run["breakdown"]["groups"].as_array().unwrap();
    let latencies = |group: &str| {
        let is_meant = |row: &&Value| row["group"] == group && row["kind"] == "consumers";
        &groups.iter().find(is_meant).unwrap()["latencies"]
    };
    let at_once = latencies("at-once");
    for key in ["count", "p50", "max"] {
        let [one, other] = ["end-to-end", "settled"].map(|name| of(at_once, name, key));
        assert_eq!(one, other, "{run:#}");
    }
    let many = latencies("many");
    let [processed, settled] = ["processed", "settled"].map(|name| of(many, name, "p50").unwrap());
    assert!(settled > processed + 100 * MILLI, "20 messages at 50 a second: {processed} {settled}");
}

#[test]
fn where_nothing_waits_there_is_one_latency() {
    let bench = Workbench::new("one-end");
    let text = "name = \"one-end\"\nrun.duration = \"1s\"\nqueues = [{ name = \"one-end\" }]\n\
                publishers = [{ queue = \"one-end\", rate = 100 }]\n\
                consumers = [{ queue = \"one-end\", prefetch = 100 }]\n\
                [expect]\nprocessed.p99 = \"< 10s\"\nsettled.p99 = \"< 10s\"\nend-to-end.p99 = \"< 10s\"\n";
    bench.file("s.toml", text);
    let uri = existing_broker().uri();
    let text = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0).stdout;
    let said = "end-to-end.p99 < 10s, until delivered, which is when consumers start on a message";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("processed and settled are the same as end-to-end"), "{text}");
    assert!(p50(&bench.json("out/run.json"), "processed").is_none());
}
