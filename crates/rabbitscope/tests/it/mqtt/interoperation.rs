//! The same messages to and from Paho, a client of another project.

use rabbitscope_testing::{OtherClient, Workbench, count, scenario::Scenario};

use super::{broker, publishers, readers};

/// A package of the Python Package Index.
const PAHO: &str = "paho-mqtt==2.1.0";

/// A topic with a space, and with a character that is not ASCII.
const TOPIC: &str = "paho/a b/ü";

/// Returns the other client; `None` with a note if it cannot be had.
pub(super) fn paho(bench: &Workbench) -> Option<OtherClient<'_>> {
    OtherClient::of_package(bench, PAHO, "mqtt/interoperation.py", (broker(), "mqtt"))
}

#[test]
fn paho_reads_what_is_written() {
    let bench = Workbench::new("mqtt-to-paho");
    let Some(client) = paho(&bench) else { return };
    let mut reading = client.start(&["read", "paho/+/ü", "10000"]);
    reading.says("subscribed");
    let write = Scenario::new("mqtt-write")
        .publishers(publishers(TOPIC).messages(10_000).size("700B").confirm_window(1000))
        .duration("60s");
    bench.run_on(broker(), write, "").code(0);
    let read = reading.ended();
    assert_eq!(read["sizes"], serde_json::json!([700]));
    assert_eq!(read["topics"], serde_json::json!([TOPIC]));
    assert_eq!((&read["numbers"], &read["qos"]), (&true.into(), &serde_json::json!([1])), "{read}");
}

/// Bodies of 0 to 300,000 bytes, of both qualities of service.
#[test]
fn what_paho_writes_is_read() {
    let bench = Workbench::new("mqtt-from-paho");
    let Some(client) = paho(&bench) else { return };
    let scenario = Scenario::new("mqtt-read")
        .consumers(readers(&["paho/theirs/#"]).messages(20).count(2))
        .duration("60s");
    let running = bench.start_run(broker(), scenario, 1);
    let written = client.run(&["write", "paho/theirs/a b/ü"]);
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let run = bench.json("out/run.json");
    assert_eq!(written["messages"], 20);
    assert_eq!(count(&run, "consumed"), 2 * 20);
    assert_eq!(count(&run, "consumed-item-bytes"), 2 * written["bytes"].as_u64().unwrap());
}
