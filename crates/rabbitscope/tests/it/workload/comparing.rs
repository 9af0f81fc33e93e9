//! A scenario beside the load that it was made of.

use rabbitscope_testing::Workbench;
use serde_json::Value;

const SOURCE: &str = r#"
    name = "source"
    run.duration = "12s"
    packets = { duration = "12s", save = true }
    [[queues]]
    name = "orders"
    [[queues]]
    name = "work"
    [[publishers]]
    count = 2
    connections = 2
    queue = "orders"
    size = "512B"
    rate = 40
    [[publishers]]
    queue = "work"
    size = "2KiB"
    rate = 30
    confirm-window = 100
    [[consumers]]
    queue = "orders"
    auto-ack = true
    [[consumers]]
    queue = "work"
    prefetch = 20
    processing-time = "10ms"
"#;

/// Returns the group and the name of each figure that differs.
fn different(likeness: &Value) -> Vec<(String, String)> {
    let mut different = Vec::new();
    for group in likeness["groups"].as_array().unwrap() {
        for figure in group["figures"].as_array().unwrap() {
            if figure["verdict"] == "differs" {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                different.push((text(&group["group"]), text(&figure["name"])));
            }
        }
    }
    different
}

/// Runs a comparison, and returns its likeness and its exit code.
fn compared(bench: &Workbench, options: &str) -> (Value, Option<i32>) {
    let ended = bench.rabbitscope(&format!("workload --compare mine.toml --json {options}"));
    let likeness = serde_json::from_str(&ended.stdout);
    (likeness.unwrap_or_else(|error| panic!("{error}\n{ended:#?}")), ended.code)
}

#[test]
fn a_wrong_model_is_told_apart_and_its_group_named() {
    let Some(bench) = Workbench::for_root("workload-compare") else { return };
    bench.file("source.toml", SOURCE);
    let ended = bench.rabbitscope("run source.toml --out source");
    assert!(matches!(ended.code, Some(0 | 4)), "{ended:#?}");
    let ended = bench.rabbitscope("workload --pcap source/packets.pcapng -o mine.toml").code(0);
    assert!(ended.stdout.contains("mine.likeness.json"), "{ended:#?}");
    let kept = bench.read("mine.likeness.json");
    assert!(!kept.contains("orders") && !kept.contains("work"), "{kept}");
    // The load itself: figures that no shared machine disturbs must be alike.
    let (likeness, code) = compared(&bench, "--out right");
    assert!(matches!(code, Some(0 | 3)), "{likeness:#}");
    for (group, figure) in different(&likeness) {
        let is_exact = ["members", "sizes", "prefetch", "confirm-window", "settled at once"];
        assert!(!is_exact.contains(&figure.as_str()), "{group}: {figure}\n{likeness:#}");
    }
    let text = bench.read("mine.toml");
    let group = |part: &str| {
        let tables = text.split("[[publishers]]").skip(1);
        tables.into_iter().position(|table| table.contains(part)).unwrap()
    };
    let large = group("size = \"2KiB\"");
    let name = format!("publishers-{}", large + 1);
    for (key, figure) in [("rate=36", "rate"), ("size=2458B", "sizes")] {
        let option = format!("publishers.{large}.{key}");
        let (likeness, code) = compared(&bench, &format!("--set {option} --out {figure}"));
        assert_eq!(code, Some(3), "{likeness:#}");
        let found = different(&likeness);
        assert!(found.contains(&(name.clone(), figure.to_owned())), "{found:?}\n{likeness:#}");
    }
    // The capture itself as the source, and the words for people.
    let consumers = text.split("[[consumers]]").skip(1);
    let place = consumers.into_iter().position(|table| table.contains("prefetch = 20")).unwrap();
    let option = format!("--set consumers.{place}.prefetch=24 --source source/packets.pcapng");
    let ended = bench.rabbitscope(&format!("workload --compare mine.toml {option} --out prefetch"));
    let ended = ended.code(3);
    let named = format!("consumers-{}: prefetch", place + 1);
    assert!(ended.stdout.contains(&named) && ended.stdout.contains("different: "), "{ended:#?}");
}

#[test]
fn a_comparison_needs_figures_of_the_source() {
    let bench = Workbench::new("workload-compare-refusals");
    bench.file("mine.toml", "name = \"x\"\nrun.duration = \"1s\"\n");
    let refused = |arguments: &str, parts: &[&str]| {
        bench.rabbitscope(&format!("workload {arguments}")).code(2).says(parts);
    };
    refused("--compare mine.toml", &["mine.likeness.json", "--source"]);
    refused("--compare mine.toml -o other.toml", &["cannot be used with"]);
    refused("--source a.pcap -o other.toml", &["--compare"]);
    bench.file("mine.likeness.json", "{\"format-version\": 9}");
    refused("--compare mine.toml", &["format-version is 9"]);
    bench.file("mine.likeness.json", "{}");
    refused("--compare mine.toml", &["no measurements of a load"]);
}
