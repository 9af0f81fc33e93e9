//! CPU time and memory of an existing broker: of all nodes at its addresses, or of none.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use rabbitscope_testing::{
    Stops, Workbench, broker_with, free_address,
    scenario::{Consumers, Publishers, Scenario},
};

/// Starts an Erlang VM with a connection to this address.
fn erlang_client(broker: SocketAddr) -> Child {
    let connect = format!(
        "{{ok, _}} = gen_tcp:connect({{127,0,0,1}}, {}, []), io:format(\"connected~n\"), receive x -> x end.",
        broker.port()
    );
    let mut command = Command::new("erl");
    command.args(["-noshell", "-eval", &connect]).stdout(Stdio::piped());
    let mut client = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(client.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "connected\n");
    client
}

#[test]
fn all_nodes_are_summed_or_none() {
    let bench = Workbench::new("at-uris");
    let broker = broker_with(|spec| spec.nodes = 2);
    let uris = broker.uris();
    let scenario = Scenario::with_queue("at-uris")
        .publishers(Publishers::new("at-uris").count(2).connections(2).rate(200))
        .consumers(Consumers::new("at-uris").count(2).connections(2).prefetch(10))
        .duration("3s");
    bench.file("s.toml", scenario);
    let run = |uris: &[String], out: &str| {
        let list = uris.iter().map(|uri| format!("\"{uri}\"")).collect::<Vec<_>>().join(",");
        let command = format!("run s.toml --set broker.uris=[{list}] --out {out}");
        let text = bench.rabbitscope(&command).code(0).stdout;
        (text, bench.json(&format!("{out}/run.json")))
    };
    // A client may be an Erlang VM, too. The broker closes its connection after 10 s without a login.
    let client = erlang_client(broker.address());
    let (text, record) = run(&uris, "both");
    client.killed();
    let nodes = record["broker"]["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 2, "{record:#}");
    let of_each: Vec<u64> = nodes.iter().map(|node| node["cpu-nanos"].as_u64().unwrap()).collect();
    assert!(of_each.iter().all(|nanos| *nanos > 1_000_000), "{of_each:?}");
    let rows = bench.rows("both/series.jsonl");
    let total: f64 = rows
        .iter()
        .filter(|row| row["draining"] != true)
        .map(|row| {
            row["broker-cpu-cores"].as_f64().unwrap() * row["interval-nanos"].as_f64().unwrap()
        })
        .sum();
    let sum = of_each.iter().sum::<u64>() as f64;
    assert!((total / sum - 1.0).abs() < 0.1, "{total} {of_each:?}");
    assert!(text.contains("2 nodes on this machine: CPU time and memory of all"), "{text}");

    assert!(!text.contains("is not included"), "{text}");

    // The other node of the cluster is not at an address.
    let (text, record) = run(&uris[..1], "first");
    assert!(text.contains("other RabbitMQ nodes of this machine are connected"), "{text}");
    let missing = &record["losses"][0];
    assert_eq!(
        (missing["count"].as_u64(), missing["of"].as_u64()),
        (Some(1), Some(2)),
        "{record:#}"
    );

    // A port without a node: the figures of the other node alone would be incomplete.
    let gone = free_address();
    let user = uris[0].split('@').next().unwrap();
    let one_elsewhere = [uris[0].clone(), format!("{user}@{gone}/%2f")];
    let (text, record) = run(&one_elsewhere, "one");
    assert!(!text.contains("MiB resident"), "{text}");
    let said = format!("no node of this machine is seen at {gone}");
    assert!(text.contains(&said), "{text}");
    assert!(record["broker"].get("nodes").is_none(), "{record:#}");
    assert!(!bench.read("one/series.jsonl").contains("\"broker-cpu-cores\":0."));
}
