//! Files that `workload` does not read or write.

use rabbitscope_testing::Workbench;

#[test]
fn outputs_and_inputs_are_checked_first() {
    let bench = Workbench::new("workload-refusals");
    let refused = |arguments: &str, parts: &[&str]| {
        bench.rabbitscope(&format!("workload {arguments}")).code(2).says(parts);
    };
    refused("--pcap none.pcap -o mine.json", &["suffix .toml"]);
    bench.file("mine.toml", "name = \"x\"");
    refused("--pcap mine.toml -o mine.toml", &["would replace the input mine.toml"]);
    refused("--pcap a.pcap --definitions mine.toml -o ./mine.toml", &["would replace the input"]);
    assert_eq!(bench.read("mine.toml"), "name = \"x\"");
    bench.file("notes.likeness.json", "{}");
    refused("--pcap a.pcap -o notes.toml", &["notes.likeness.json", "holds no figures"]);
    refused("--pcap a.pcap --scale 2 -o notes.toml", &["notes.likeness.json", "another load"]);
    assert_eq!(bench.read("notes.likeness.json"), "{}");
}

#[test]
fn a_capture_without_messages_gives_no_scenario() {
    let bench = Workbench::new("workload-empty");
    // A pcap file without packets.
    let head = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0];
    std::fs::write(bench.path("empty.pcap"), head).unwrap();
    let ended = bench.rabbitscope("workload --pcap empty.pcap -o mine.toml").code(1);
    ended.says(&["no message and no consumer was observed"]);
    assert!(!bench.path("mine.toml").exists());
    bench.file("definitions.json", "{\"queues\": [{\"name\": \"s3cret\"}]}");
    let ended =
        bench.rabbitscope("workload --pcap empty.pcap --definitions definitions.json -o mine.toml");
    assert_ne!(ended.code, Some(0));
    assert!(
        ended.stderr.contains("definitions.json") && !ended.stderr.contains("s3cret"),
        "{ended:#?}"
    );
}
