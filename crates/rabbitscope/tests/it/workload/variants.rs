//! Other sizes of a load, and loads without names.

use rabbitscope_runs::scenario;
use rabbitscope_testing::Workbench;

/// A conversation of pika with RabbitMQ, on port 26685.
const PIKA: &[u8] = include_bytes!("../../../../wire/tests/it/recorded/pika.pcap");
/// Exchanges and queues, with one that is only in this file.
const DEFINITIONS: &str = r#"{"queues": [{"name": "planted-queue", "vhost": "/", "durable": true,
    "auto_delete": false, "arguments": {}}], "exchanges": [], "policies": [],
    "bindings": [{"source": "wire-exchange", "vhost": "/", "destination": "planted-queue",
                  "destination_type": "queue", "routing_key": "planted-key"}]}"#;

fn written(bench: &Workbench, options: &str) -> String {
    let source = "--pcap planted-file.pcap --definitions planted-definitions.json --port 26685";
    bench.rabbitscope(&format!("workload {source} {options} -o mine.toml")).code(0);
    let text = bench.read("mine.toml");
    if let Err(error) = scenario::parse(&text, "mine.toml", &[]) {
        panic!("{error}\n{text}");
    }
    text
}

#[test]
fn names_of_applications_are_in_no_anonymous_file() {
    let bench = Workbench::new("workload-anonymous");
    std::fs::write(bench.path("planted-file.pcap"), PIKA).unwrap();
    bench.file("planted-definitions.json", DEFINITIONS);
    let named = written(&bench, "");
    for name in ["wire-exchange", "planted-queue", "planted-key", "planted-file", "Pika"] {
        assert!(named.contains(name), "{name}\n{named}");
    }
    let anonymous = written(&bench, "--anonymous");
    for name in ["wire", "planted", "Pika", "exchange = \"wire"] {
        assert!(!anonymous.contains(name), "{name}\n{anonymous}");
    }
    // As many groups and objects as before.
    for table in ["[[publishers]]", "[[consumers]]", "[[queues]]", "[[exchanges]]", "bindings ="] {
        assert_eq!(named.matches(table).count(), anonymous.matches(table).count(), "{anonymous}");
    }
}

#[test]
fn rates_and_connections_are_scaled() {
    let bench = Workbench::new("workload-scaled");
    std::fs::write(bench.path("planted-file.pcap"), PIKA).unwrap();
    bench.file("planted-definitions.json", DEFINITIONS);
    let text = written(&bench, "--scale 0.5 --connections 0.5");
    assert!(text.contains("rates × 0.5") && text.contains("connections × 0.5"), "{text}");
    for options in ["--scale 0", "--scale x", "--connections 1.5", "--connections 0"] {
        bench.rabbitscope(&format!("workload --pcap a.pcap {options} -o b.toml")).code(2);
    }
}
