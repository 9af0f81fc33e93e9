//! Files that the nodes of a broker read when they start.

use std::{io, path::Path};

use rabbitscope_machine::ProcessOrigin;
use rabbitscope_runs::scenario::ThrowawayBroker;

use super::{
    environment::{MODULES, NO_ANONYMOUS_LOGIN, VM_CONFIG, environment},
    listeners::loopback_config,
    lock::DirectoryLock,
    place::{make_private, random_hex, write_private},
    planned::PlannedNode,
};
use crate::{BrokerError, Installation, processes, removal};

/// Name of the file with the machine and the process that made the directory.
pub(crate) const ORIGIN: &str = "origin.json";

/// The module through which the nodes of a cluster find one another.
const CLUSTER_MODULE: &str = include_str!("../../erlang/rabbitscope_epmd.erl");

/// Erlang that a node evaluates before it starts RabbitMQ.
const LOAD_MODULES: &str = include_str!("../../erlang/load_modules.txt");

/// Makes a fresh directory with all files that a broker's nodes read, and returns its lock. The nodes share cookie,
/// port mapper and first user. After a failure the directory is removed again.
pub(crate) fn prepare(
    installation: &Installation,
    directory: &Path,
    spec: &ThrowawayBroker,
    nodes: &[PlannedNode],
) -> Result<DirectoryLock, BrokerError> {
    // A refused specification leaves no directory behind.
    let home = directory.join("home");
    let cluster = if spec.is_cluster && nodes.len() > 1 { nodes } else { &[] };
    let variables = nodes.iter().map(|node| environment(installation, &home, spec, node, cluster));
    let variables = variables.collect::<Result<Vec<_>, _>>()?;
    make_private(directory).map_err(BrokerError::io("make", directory))?;
    let lock = DirectoryLock::create(directory).map_err(BrokerError::io("lock", directory))?;
    fill(installation, directory, spec, nodes, &variables).inspect_err(|_| {
        // The first error is reported. The next start finds a directory that cannot be removed.
        let _ = removal::remove(directory);
    })?;
    Ok(lock)
}

fn fill(
    installation: &Installation,
    directory: &Path,
    spec: &ThrowawayBroker,
    nodes: &[PlannedNode],
    variables: &[String],
) -> Result<(), BrokerError> {
    // Written before any process of the broker can exist.
    write_private(&directory.join(processes::BORN), &processes::ticks_now()?.to_string())?;
    write_private(&directory.join(ORIGIN), &origin()?)?;
    write_private(&directory.join(VM_CONFIG), NO_ANONYMOUS_LOGIN)?;
    write_private(&directory.join(MODULES), LOAD_MODULES)?;
    if spec.is_cluster && nodes.len() > 1 {
        write_private(&directory.join("rabbitscope_epmd.erl"), CLUSTER_MODULE)?;
    }
    let home = directory.join("home");
    make_private(&home).map_err(BrokerError::io("make", &home))?;
    write_private(&home.join(".erlang.cookie"), &random_hex()?)?;
    let common =
        format!("default_pass = {}\n", random_hex()?) + &cluster_config(nodes, spec.is_cluster);
    for (node, variables) in nodes.iter().zip(variables) {
        if node.files != directory {
            make_private(&node.files).map_err(BrokerError::io("make", &node.files))?;
        }
        write_private(&node.files.join("environment.sh"), variables)?;
        let loopback = loopback_config(&node.ports, |plugin| installation.has_plugin(plugin));
        let config = loopback + &common + &spec.config + "\n";
        write_private(&node.files.join("rabbitmq.conf"), &config)?;
        if !spec.advanced_config.is_empty() {
            write_private(&node.files.join("advanced.config"), &spec.advanced_config)?;
        }
        let plugins = format!("[{}].\n", spec.plugins.join(","));
        write_private(&node.files.join("enabled_plugins"), &plugins)?;
    }
    Ok(())
}

fn origin() -> Result<String, BrokerError> {
    let unreadable = || BrokerError::io("read", "/proc")(io::ErrorKind::NotFound.into());
    let here = ProcessOrigin::here().ok_or_else(unreadable)?;
    Ok(serde_json::to_string(&here).expect("names and numbers are JSON"))
}

/// Lines of `rabbitmq.conf` that join nodes that start together into one cluster (RabbitMQ's "Cluster Formation and
/// Peer Discovery", config file peer discovery).
fn cluster_config(nodes: &[PlannedNode], is_cluster: bool) -> String {
    if nodes.len() < 2 || !is_cluster {
        return String::new();
    }
    let backend = "cluster_formation.peer_discovery_backend = classic_config\n".to_owned();
    nodes.iter().zip(1..).fold(backend, |config, (node, number)| {
        config + &format!("cluster_formation.classic_config.nodes.{number} = {}\n", node.node_name)
    })
}
