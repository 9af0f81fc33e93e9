//! Files about packets. Findings are attached to their packets, for Wireshark. No file has a password or a body. A
//! file that cannot be written does not prevent the others.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use rabbitscope_testing::{Workbench, holds, not_run};
use serde_json::Value;

use super::{
    client::Client,
    looking::{look, quiet_broker, stop},
};

const BODY: &[u8] = b"a body that nobody else may read";

#[test]
fn findings_stand_at_their_packets_and_secrets_nowhere() {
    let Some(bench) = Workbench::for_root("kept-packets") else { return };
    fs::create_dir(bench.path("with-bodies")).unwrap();
    let broker = quiet_broker();
    let (port, password) = (broker.address().port(), broker.login().1.as_bytes());
    let look = |arguments: &str| look(&bench, &format!("--port {port} --duration 60s {arguments}"));
    let looking = look("-o p.json -o p.html -o p.pcapng");
    let with_bodies = look("--payload --json -o with-bodies/p.pcapng");
    wait_for_acknowledgements();
    let said = [stop(looking), stop(with_bodies)];
    for text in said.iter().flat_map(|output| [&output.stdout, &output.stderr]) {
        assert!(!holds(text.as_bytes(), password) && !holds(text.as_bytes(), BODY), "{text}");
    }
    for name in ["p.json", "p.html", "p.pcapng"] {
        let bytes = fs::read(bench.path(name)).unwrap();
        assert!(!holds(&bytes, password), "{name} has the password");
        assert!(!holds(&bytes, BODY), "{name} has a body");
    }
    let bytes = fs::read(bench.path("with-bodies/p.pcapng")).unwrap();
    assert!(holds(&bytes, BODY), "--payload keeps bodies");
    assert!(!holds(&bytes, password), "passwords are never kept");
    comments_are_those_of_the_findings(&bench, &bench.json("p.json"));
}

/// Publishes and consumes with Nagle's algorithm, which gives a finding with packets.
fn wait_for_acknowledgements() {
    let mut client = Client::connect(quiet_broker(), false);
    let queue = client.declare("kept");
    client.consume(&queue, true);
    let [method, header, body] = Client::publish(&queue, BODY);
    for _ in 0..40 {
        client.write(&method);
        client.write(&[&header[..], &body].concat());
        client.delivery();
    }
}

/// Asserts that tshark shows a comment at each packet that the report names, and nowhere else.
fn comments_are_those_of_the_findings(bench: &Workbench, report: &Value) {
    let mut expected: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for finding in report["findings"].as_array().unwrap() {
        let sentence = finding["sentence"].as_str().unwrap();
        for packet in finding["packets"].as_array().unwrap() {
            expected.entry(packet.as_u64().unwrap()).or_default().push(sentence);
        }
    }
    assert!(expected.values().flatten().any(|sentence| sentence.contains("Nagle")), "{report:#}");
    let Some(comments) = comments(&bench.path("p.pcapng")) else {
        return not_run("no tshark here");
    };
    assert_eq!(comments.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (packet, sentences) in expected {
        let comment = &comments[&packet];
        assert!(sentences.iter().all(|sentence| comment.contains(sentence)), "{packet}: {comment}");
    }
}

/// Returns comments by packet number; `None` without tshark.
fn comments(file: &Path) -> Option<BTreeMap<u64, String>> {
    let fields = "-n -Y frame.comment -T fields -e frame.number -e frame.comment -r";
    let output = Command::new("tshark").args(fields.split(' ')).arg(file).output().ok()?;
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    Some(lines.map(|(number, comment)| (number.parse().unwrap(), comment.to_owned())).collect())
}

#[test]
fn a_file_that_cannot_be_written_takes_no_other_along() {
    let Some(bench) = Workbench::for_root("unwritten-packets") else { return };
    fs::create_dir(bench.path("gone")).unwrap();
    let port = quiet_broker().address().port();
    let files = "-o gone/p.html -o p.json -o gone/p.json -o p.pcapng";
    let looking = look(&bench, &format!("--port {port} --duration 60s {files}"));
    fs::remove_dir(bench.path("gone")).unwrap();
    let ended = stop(looking);
    assert!(ended.stderr.contains("cannot write gone/p.html, gone/p.json: "), "{ended:#?}");
    let written: Vec<&str> =
        ended.stdout.lines().filter_map(|line| line.strip_prefix("written  ")).collect();
    assert_eq!(written, ["p.json", "p.pcapng"]);
    assert!(bench.json("p.json")["sources"].is_array());
    assert!(bench.path("p.pcapng").is_file());
}
