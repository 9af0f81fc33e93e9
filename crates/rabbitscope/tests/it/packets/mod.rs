//! `rabbitscope packets`, against a real broker. It finds and names planted faults, and no others. Its counts equal
//! those of the load, and of other clients. No file has a secret.

mod client;
mod clients;
mod cuts;
mod files;
mod kept;
mod limits;
mod planted;
mod runs;

use std::{
    fs,
    process::{Child, Output},
    sync::OnceLock,
};

use rabbitscope_broker::Broker;
use rabbitscope_runs::scenario::ThrowawayBroker;
use rustix::process::Signal;
use serde_json::Value;

use crate::workbench::{Ended, Workbench, eventually, not_run, signal};

/// Returns whether packets may be captured; otherwise, reports that the test did not run.
fn may_capture(test: &str) -> bool {
    let may = rustix::process::geteuid().is_root();
    if !may {
        not_run(test, "capturing packets takes root");
    }
    may
}

/// A broker for tests with little load, with further protocols. It ends with this process.
fn quiet_broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    let plugins = ["rabbitmq_mqtt", "rabbitmq_stream"].map(str::to_owned).to_vec();
    let spec = ThrowawayBroker { plugins, ..ThrowawayBroker::default() };
    BROKER.get_or_init(|| Broker::start_with_own_log(&spec).unwrap())
}

/// Starts a capture of a port; returns once packets are seen.
fn look(bench: &Workbench, arguments: &str) -> Child {
    look_in(bench, "self", arguments)
}

/// Does the same in the network of the process `pid`.
fn look_in(bench: &Workbench, pid: &str, arguments: &str) -> Child {
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
fn stop(looking: Child) -> Ended {
    signal(&looking, Signal::INT);
    let ended: Output = looking.wait_with_output().unwrap();
    Ended::from(ended).code(1)
}

/// Asserts that a rule applies to the first of two connections, named by the client's port, and not to the second.
fn assert_told_apart(report: &Value, rule: &str, [shows, does_not]: [u16; 2]) {
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
