//! Watchers of a run.

use std::{
    io::{BufRead, BufReader, Read},
    net::TcpStream,
};

use rabbitscope_testing::{Ends, Served, Workbench, existing_broker, scenario::Scenario};

#[test]
fn seconds_are_printed_written_and_scraped() {
    let bench = Workbench::new("watching");
    bench.file("s.toml", Scenario::steady("watched", "4s"));
    let options = "--json-lines --csv s.csv --prometheus 127.0.0.1:0";
    let uri = existing_broker().uri();
    let mut running = Served::start(&bench, &format!("run s.toml --uri {uri} --out out {options}"));
    let address = running.address.clone();
    let mut lines = BufReader::new(running.child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let row: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert!(row["published"].as_u64().unwrap() > 0, "{row}");

    // A second is printed before the endpoint has it. Once the next second is printed, the endpoint has the first.
    lines.read_line(&mut first).unwrap();
    let scraped = running.get("/metrics", "");
    assert!(scraped.starts_with("HTTP/1.1 200"), "{scraped}");
    for part in [
        "# TYPE rabbitscope_published_messages_total counter",
        "rabbitscope_latency_seconds_bucket{scenario=\"test\",latency=\"confirm\",le=\"+Inf\"}",
    ] {
        assert!(scraped.contains(part), "{part} is not in {scraped}");
    }
    assert!(running.get("/", "").starts_with("HTTP/1.1 404"));

    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    running.child.ended().code(0);
    assert!(TcpStream::connect(&address).is_err(), "closed with the run");
    assert_eq!(first + &rest, bench.read("out/series.jsonl"), "the same seconds, and no more");
    assert!(bench.read("s.csv").lines().count() >= 5);
}
