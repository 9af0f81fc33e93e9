//! The start positions of a stream's consumers.

use crate::workbench::{Workbench, existing_broker};

/// The consumer starts after all messages were published: only an offset in the past has messages for it.
const LATE_CONSUMER: &str = r#"
name = "offset"
run = { duration = "20s" }
queues = [{ name = "offset-by-time", type = "stream" }]
publishers = [{ queue = "offset-by-time", messages = 200, confirm-window = 100 }]
[[consumers]]
queue = "offset-by-time"
prefetch = 100
start-delay = "2s"
messages = 200
offset = "1h"
"#;

#[test]
fn a_stream_is_read_from_a_time_ago() {
    let bench = Workbench::new("offset");
    bench.file("s.toml", LATE_CONSUMER);
    let uri = existing_broker().uri();
    bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0);
    let record = bench.json("out/run.json");
    assert_eq!(record["load"]["consumed"], 200, "{record:#}");
    assert!(record["duration-nanos"].as_u64().unwrap() < 15_000_000_000, "by count, not by time");
}
