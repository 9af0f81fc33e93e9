//! Captures of a port, and the broker of tests with little load.

use std::{fs, process::Child, sync::OnceLock};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Ended, Stops, Workbench, broker_with, eventually};
use rustix::process::Signal;
use serde_json::Value;

/// A broker for tests with little load, with further protocols. It ends with this process.
pub(super) fn quiet_broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    let plugins = ["rabbitmq_mqtt", "rabbitmq_stream"].map(str::to_owned);
    BROKER.get_or_init(|| broker_with(|spec| spec.plugins = plugins.to_vec()))
}

/// Starts a capture of a port; returns once packets are seen.
pub(super) fn look(bench: &Workbench, arguments: &str) -> Child {
    look_in(bench, "self", arguments)
}

/// Does the same in the network of the process `pid`.
pub(super) fn look_in(bench: &Workbench, pid: &str, arguments: &str) -> Child {
    let child = bench.start(&format!("packets {arguments}"));
    let table = format!("/proc/{pid}/net/packet");
    eventually("packets are captured", || {
        let sockets = sockets_of(child.id());
        let table = fs::read_to_string(&table).unwrap();
        table.lines().filter_map(receiving).any(|inode| sockets.contains(&inode.to_owned()))
    });
    child
}

/// Returns the inodes of the open sockets of a process.
fn sockets_of(pid: u32) -> Vec<String> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = files
        .filter_map(|file| fs::read_link(file.path()).ok()?.into_os_string().into_string().ok());
    links
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect()
}

/// Returns the inode of a packet socket that receives: `sk RefCnt Type Proto Iface R Rmem User Inode`.
fn receiving(line: &str) -> Option<&str> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    (columns.get(5) == Some(&"1")).then(|| columns.get(8).copied())?
}

/// Stops a capture early.
pub(super) fn stop(looking: Child) -> Ended {
    looking.ended_by(Signal::INT).code(1)
}

/// Asserts that a rule applies to the first of two connections, named by the client's port, and not to the second.
pub(super) fn assert_told_apart(report: &Value, rule: &str, [shows, does_not]: [u16; 2]) {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().filter(|finding| finding["rule"] == rule);
    let connections = found.flat_map(|finding| finding["connections"].as_array().unwrap());
    let connections: Vec<&str> =
        connections.map(|connection| connection.as_str().unwrap()).collect();
    let has = |port: u16| {
        connections.iter().any(|connection| connection.starts_with(&format!("127.0.0.1:{port} ")))
    };
    assert!(has(shows), "{rule}: {connections:?} without {shows}; {report:#}");
    assert!(!has(does_not), "{rule}: {connections:?} with {does_not}");
}
