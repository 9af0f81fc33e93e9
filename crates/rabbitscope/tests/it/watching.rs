//! Watchers of a run, and the search for the highest rate.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use crate::workbench::{Ended, Workbench, existing_broker, scenario};

#[test]
fn seconds_are_printed_written_and_scraped() {
    let bench = Workbench::new("watching");
    bench.file("s.toml", &scenario("watched", "4s"));
    let options = "--json-lines --csv s.csv --prometheus 127.0.0.1:0";
    let uri = existing_broker().uri();
    let mut running = bench.start(&format!("run s.toml --uri {uri} --out out {options}"));
    let mut notes = BufReader::new(running.stderr.take().unwrap());
    let mut address = String::new();
    notes.read_line(&mut address).unwrap();
    let address = address.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    let mut lines = BufReader::new(running.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let row: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert!(row["published"].as_u64().unwrap() > 0, "{row}");

    // A second is printed before the endpoint has it. Once the next second is printed, the endpoint has the first.
    lines.read_line(&mut first).unwrap();
    let scraped = get(&address, "/metrics");
    assert!(scraped.starts_with("HTTP/1.1 200"), "{scraped}");
    for part in [
        "# TYPE rabbitscope_published_messages_total counter",
        "rabbitscope_latency_seconds_bucket{scenario=\"test\",latency=\"confirm\",le=\"+Inf\"}",
    ] {
        assert!(scraped.contains(part), "{part} is not in {scraped}");
    }
    assert!(get(&address, "/").starts_with("HTTP/1.1 404"));

    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    Ended::from(running.wait_with_output().unwrap()).code(0);
    assert!(TcpStream::connect(&address).is_err(), "closed with the run");
    assert_eq!(first + &rest, bench.read("out/series.jsonl"), "the same seconds, and no more");
    assert!(bench.read("s.csv").lines().count() >= 5);
}

/// Returns the answer to one request.
fn get(address: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_limit_that_cannot_hold_is_found() {
    let bench = Workbench::new("find-rate");
    bench.file("s.toml", &scenario("searched", "1s"));
    let uri = existing_broker().uri();
    let mut command = bench.command(&format!("find-rate s.toml --uri {uri} --out out --json"));
    command.args(["--min", "100", "--max", "200", "--step-time", "3s", "--warm-up", "1s"]);
    let ended = Ended::from(command.args(["--slo", "confirm.p99 < 1ns"]).output().unwrap());
    let ended = ended.code(3);
    let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
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
    assert!(bench.read("out/find-rate.html").contains("<table>"));
    assert!(bench.json("out/steps/01-100/run.json")["load"]["published"].as_u64().unwrap() > 300);
}
