//! The same messages to and from Paho, a client of another project.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
};

use rabbitscope_testing::{Workbench, count, environment, not_run, port_of, scenario::Scenario};
use serde_json::Value;

use super::{broker, publishers, readers};

/// A package of the Python Package Index.
const PAHO: &str = "paho-mqtt==2.1.0";

/// A topic with a space, and with a character that is not ASCII.
const TOPIC: &str = "paho/a b/ü";

/// Starts the other client.
pub(super) fn client(bench: &Workbench, python: &Path, arguments: &[&str]) -> Child {
    let script = format!("{}/tests/it/mqtt/interoperation.py", env!("CARGO_MANIFEST_DIR"));
    let (user, password) = broker().login();
    let mut command = Command::new("timeout");
    command.arg("100").arg(python).arg(script).arg(port_of(broker(), "mqtt").to_string());
    command.args(arguments).env("BROKER_USER", user).env("BROKER_PASSWORD", password);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).current_dir(&bench.directory);
    command.spawn().unwrap()
}

/// Waits until the client has subscribed. Returns the rest of its output.
pub(super) fn subscribed(reading: &mut Child) -> BufReader<ChildStdout> {
    let mut output = BufReader::new(reading.stdout.take().unwrap());
    let mut subscribed = String::new();
    output.read_line(&mut subscribed).unwrap();
    assert_eq!(subscribed, "subscribed\n");
    output
}

/// Returns the line with which the client ends.
pub(super) fn ended(mut reader: impl BufRead, mut client: Child) -> Value {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert!(client.wait().unwrap().success(), "{line}");
    serde_json::from_str(&line).unwrap()
}

pub(super) fn paho() -> Result<(tempfile::TempDir, PathBuf), String> {
    let place = tempfile::tempdir().unwrap();
    let python = environment(place.path(), PAHO)?;
    Ok((place, python))
}

#[test]
fn paho_reads_what_is_written() {
    let (_place, python) = match paho() {
        Ok(found) => found,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("mqtt-to-paho");
    let mut reading = client(&bench, &python, &["read", "paho/+/ü", "10000"]);
    let output = subscribed(&mut reading);
    let write = Scenario::new("mqtt-write")
        .publishers(publishers(TOPIC).messages(10_000).size("700B").confirm_window(1000))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let read = ended(output, reading);
    assert_eq!(read["sizes"], serde_json::json!([700]));
    assert_eq!(read["topics"], serde_json::json!([TOPIC]));
    assert_eq!((&read["numbers"], &read["qos"]), (&true.into(), &serde_json::json!([1])), "{read}");
}

/// Bodies of 0 to 300,000 bytes, of both qualities of service.
#[test]
fn what_paho_writes_is_read() {
    let (_place, python) = match paho() {
        Ok(found) => found,
        Err(reason) => return not_run(&reason),
    };
    let bench = Workbench::new("mqtt-from-paho");
    let scenario = Scenario::new("mqtt-read")
        .consumers(readers(&["paho/theirs/#"]).messages(20).count(2))
        .duration("60s");
    let running = bench.start_run(broker(), scenario, 1);
    let mut writing = client(&bench, &python, &["write", "paho/theirs/a b/ü"]);
    let output = BufReader::new(writing.stdout.take().unwrap());
    let written = ended(output, writing);
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let run = bench.json("out/run.json");
    assert_eq!(written["messages"], 20);
    assert_eq!(count(&run, "consumed"), 2 * 20);
    assert_eq!(count(&run, "consumed-item-bytes"), 2 * written["bytes"].as_u64().unwrap());
}
