//! Packets captured during a run.

use rabbitscope_testing::{
    Ends, Workbench, existing_broker, find, latency,
    scenario::{Consumers, Publishers, Scenario},
};
use serde_json::Value;

use super::looking::quiet_broker;

fn scenario(messages: i64) -> Scenario {
    let queue = "rabbitscope-packets";
    let publishers = Publishers::new(queue).messages(messages).rate(3000).size("200B");
    Scenario::with_queue(queue)
        .publishers(publishers.confirm_window(100))
        .consumers(Consumers::new(queue).prefetch(100))
        .until("empty")
        .duration("20s")
        .text("[packets]\nduration = \"15s\"\nsave = true\n")
}

fn frames(report: &Value, kind: &str, from: &str) -> u64 {
    let frames = report["frames"].as_array().unwrap();
    let of = |it: &&Value| it["kind"] == kind && it["from"] == from;
    frames.iter().filter(of).filter_map(|frame| frame["frames"].as_u64()).sum()
}

#[test]
fn counts_and_latencies_are_those_of_the_load() {
    let Some(bench) = Workbench::for_root("run-packets") else { return };
    bench.file("s.toml", scenario(6000));
    let ended = bench.rabbitscope("run s.toml --out run").code(0);
    assert!(ended.stdout.contains("from publish to confirm on the wire p50 "), "{ended:?}");
    let (run, report) = (bench.json("run/run.json"), bench.json("run/packets.json"));
    assert_eq!(report["capture"]["dropped"], 0);
    assert_eq!(report["totals"]["published"], 6000);
    assert_eq!(report["totals"]["delivered"], 6000);
    assert_eq!(frames(&report, "basic.publish", "client"), 6000);
    assert_eq!(frames(&report, "basic.deliver", "broker"), 6000);
    let on_the_wire = |kind: &str| find(&report["latencies"], "kind", kind);
    let confirms = on_the_wire("publish-to-confirm");
    assert_eq!(confirms["count"], 6000);
    assert_eq!(on_the_wire("deliver-to-ack")["count"], 6000);
    // The time on the wire is a part of the load generator's measurement.
    let measured = latency(&run, "confirm");
    for quantile in ["p50", "p99"] {
        let (wire, whole) =
            (confirms[quantile].as_u64().unwrap(), measured[quantile].as_u64().unwrap());
        assert!(wire > 10_000 && wire <= whole + whole / 10, "{quantile}: {wire} of {whole}");
    }
    assert_eq!(run["packets"]["publish-to-confirm-p50"], confirms["p50"]);
    what_was_kept_says_the_same(&bench, &report);
    the_report_has_a_section(&bench);
}

/// The section links to the page about packets while that page is beside the report.
fn the_report_has_a_section(bench: &Workbench) {
    let beside = bench.read("run/report.html");
    assert!(beside.contains("\"packets\":{\"page\":\"packets.html\""), "no link");
    assert!(beside.contains("\"name\":\"Publish → confirm\""), "no figure");
    bench.rabbitscope("report run -o elsewhere.html").code(0);
    assert!(bench.read("elsewhere.html").contains("\"packets\":{\"page\":null"));
}

/// Root without the right to capture.
#[test]
fn a_run_that_may_not_capture_says_why() {
    let Some(bench) = Workbench::for_root("no-capture") else { return };
    bench.file("s.toml", scenario(60));
    let uri = quiet_broker().uri();
    let without = "timeout 60 setpriv --bounding-set=-net_raw --inh-caps=-net_raw";
    let mut command = bench.command_through(without, "run s.toml --out run");
    let ended = command.env("RABBITSCOPE_URI", uri).ended().code(0);
    let line = ended.stdout.lines().find(|line| line.starts_with("packets ")).unwrap();
    assert!(line.contains("not captured: ") && line.contains("CAP_NET_RAW"), "{ended:?}");
    let run = bench.json("run/run.json");
    let missing = run["packets"]["missing"].as_array().unwrap();
    let packets = missing.iter().find(|entry| entry["source"] == "packets").unwrap();
    let reason = packets["reason"].as_str().unwrap();
    assert!(reason.contains("CAP_NET_RAW"), "{run:#}");
    let report = bench.read("run/report.html");
    assert!(report.contains(&format!("No packets were captured: {reason}")), "{reason}");
}

/// Asserts the same figures from the kept packets. They lack the bodies, which the load generator fills with a stamp
/// and a pattern, and the password.
fn what_was_kept_says_the_same(bench: &Workbench, report: &Value) {
    let again = bench.rabbitscope("packets --pcap run/packets.pcapng --json").code(0).json();
    for (kind, from) in [
        ("basic.publish", "client"),
        ("header", "client"),
        ("body", "client"),
        ("basic.ack", "client"),
        ("basic.ack", "broker"),
        ("basic.deliver", "broker"),
        ("connection.start-ok", "client"),
    ] {
        assert_eq!(frames(&again, kind, from), frames(report, kind, from), "{kind} from {from}");
    }
    let kept = std::fs::read(bench.path("run/packets.pcapng")).unwrap();
    // The name has its length in front, because the broker lists the mechanisms in one text.
    let plain = b"\x05PLAIN";
    let place = kept
        .windows(plain.len())
        .position(|window| window == plain)
        .expect("the mechanism is no secret");
    // Four bytes of length, then user and password.
    let response = &kept[place + plain.len() + 4..place + plain.len() + 16];
    assert!(response.iter().all(|byte| *byte == 0), "{response:?}");
}

#[test]
fn an_ordinary_user_gets_sockets_and_is_told_why_no_packets() {
    let Some(installed) = crate::safety::installed::Installed::new("packets-of-a-user") else {
        return;
    };
    let broker = existing_broker();
    let port = broker.address().port();
    let mut client = super::client::Client::connect(broker, true);
    client.declare("user");
    let ended = installed.run(&format!("packets --port {port} --duration 1s --json"));
    let report = ended.code(0).json();
    let sources = report["sources"].as_array().unwrap();
    let of = |level: &str| sources.iter().find(|source| source["level"] == level).unwrap();
    assert_eq!(of("sockets")["present"], true);
    assert_eq!(of("packets")["present"], false);
    assert!(of("packets")["note"].as_str().unwrap().contains("CAP_NET_RAW"));
    assert!(report.get("capture").is_none());
    let ours = format!("127.0.0.1:{}", client.local_port());
    let sockets = report["sockets"].as_array().unwrap();
    assert!(sockets.iter().any(|socket| socket["remote"] == ours.as_str()), "{sockets:?}");
}
