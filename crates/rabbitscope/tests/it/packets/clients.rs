//! Clients of other projects that count their own frames: MQTT by Paho, the stream protocol by rstream. The capture
//! has each frame that they count, and no other.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use rabbitscope_testing::{
    OtherClient, PYTHON, Workbench, environment, holds, is_root, not_run, port_of,
};
use serde_json::Value;

use super::looking::{look, quiet_broker, stop};

/// A package of the Python Package Index.
const RSTREAM: &str = "rstream==1.1.1";
/// Start of every body.
const BODY: &str = "body of a message";

#[test]
fn every_packet_that_paho_knows_is_seen() {
    if !is_root() {
        return;
    }
    let has_paho = Command::new(PYTHON).args(["-c", "import paho.mqtt.client"]).output();
    if !has_paho.is_ok_and(|output| output.status.success()) {
        return not_run("python3-paho-mqtt is not installed (scripts/setup.sh)");
    }
    let (known, report) = check("mqtt", Path::new(PYTHON), "MQTT");
    let deliveries = latencies(&report, "deliver-to-ack");
    assert_eq!(Some(deliveries), known["frames"]["client PUBACK"].as_u64());
}

#[test]
fn every_frame_that_rstream_knows_is_seen() {
    if !is_root() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    match environment(place.path(), RSTREAM) {
        Ok(python) => {
            check("stream", &python, "stream protocol");
        }
        Err(reason) => not_run(&reason),
    }
}

/// Captures a client of this protocol, under the broker's name for it; returns the client's counts, and the report.
fn check(listener: &str, python: &Path, protocol: &str) -> (Value, Value) {
    let bench = Workbench::new("packets-of-a-client");
    let broker = quiet_broker();
    let port = port_of(broker, listener);
    let looking = look(&bench, &format!("--port {port} --duration 90s -o p.json -o p.pcapng"));
    let script = format!("packets/{listener}.py");
    let client = OtherClient::new(&bench, python.to_owned(), &script, (broker, listener));
    let known = client.run(&[]);
    stop(looking);
    let report = bench.json("p.json");
    assert_eq!(seen(&report, protocol), counts(&known["frames"]));
    for what in ["published", "delivered"] {
        assert_eq!(report["totals"][what], known[what], "{what}");
    }
    assert_eq!(Some(latencies(&report, "publish-to-confirm")), known["confirmed"].as_u64());
    assert_eq!(report["totals"]["unread-bytes"], 0);
    for secret in [broker.login().1, BODY] {
        for file in ["p.json", "p.pcapng"] {
            let bytes = fs::read(bench.path(file)).unwrap();
            let has = holds(&bytes, secret.as_bytes());
            assert!(!has, "{file} has what {listener} keeps secret");
        }
    }
    (known, report)
}

/// Returns the frames by sender and kind.
fn seen(report: &Value, protocol: &str) -> BTreeMap<String, u64> {
    let frames = report["frames"].as_array().unwrap();
    assert!(frames.iter().all(|frame| frame["protocol"] == protocol), "{frames:?}");
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let name = |it: &Value| format!("{} {}", text(&it["from"]), text(&it["kind"]));
    frames.iter().map(|frame| (name(frame), frame["frames"].as_u64().unwrap())).collect()
}

fn counts(known: &Value) -> BTreeMap<String, u64> {
    let known = known.as_object().unwrap().iter();
    known.map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

fn latencies(report: &Value, kind: &str) -> u64 {
    let latencies = report["latencies"].as_array().unwrap().iter();
    let mut found = latencies.filter(|latency| latency["kind"] == kind);
    found.next().map_or(0, |latency| latency["count"].as_u64().unwrap())
}
