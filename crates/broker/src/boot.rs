//! Waits until started nodes serve clients and the members of a cluster see one another.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_machine::sockets::listeners_of;

use crate::{BrokerError, Installation, Node, processes};

/// Boot timeout of one node; a boot takes seconds on an idle machine. Nodes of a cluster boot together on the same
/// CPUs, so that each gets the sum ([`timeout`]).
const BOOT_TIMEOUT: Duration = Duration::from_secs(90);

/// Time between two checks of a node.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Lines of log in an error message, about one screen.
const LOG_LINES: usize = 20;

/// Number of running members that a node sees. `list_running` exists from RabbitMQ 3.11 on.
const RUNNING_MEMBERS: &str = "length(case erlang:function_exported(rabbit_nodes, list_running, 0) of \
    true -> rabbit_nodes:list_running(); false -> rabbit_nodes:all_running() end)";

/// Returns when the node has done all boot steps and accepts clients. `nodes` is the number of nodes that boot at the
/// same time.
pub(crate) fn wait_until_ready(
    node: &Node,
    installation: &Installation,
    nodes: usize,
) -> Result<(), BrokerError> {
    let (started, timeout) = (Instant::now(), timeout(nodes));
    while !is_ready(node, installation) {
        // Checked during the boot as well, so that a listener that is too open lives as briefly as possible.
        node.require_loopback()?;
        if !node.is_running() {
            return Err(BrokerError::Died { log: last_words(node) });
        }
        if started.elapsed() > timeout {
            let waited = started.elapsed();
            return Err(BrokerError::NotReady { waited, log: last_words(node) });
        }
        thread::sleep(POLL_INTERVAL);
    }
    node.require_loopback()
}

/// Returns when each node sees all of them running.
pub(crate) fn wait_for_cluster(
    nodes: &[Node],
    installation: &Installation,
) -> Result<(), BrokerError> {
    let (started, timeout) = (Instant::now(), timeout(nodes.len()));
    for node in nodes {
        loop {
            let seen = node.eval_by(installation, RUNNING_MEMBERS)?;
            if seen == nodes.len().to_string() {
                break;
            }
            if started.elapsed() > timeout {
                let (waited, log) = (started.elapsed(), last_words(node));
                let (node, nodes) = (node.node_name(), nodes.len());
                return Err(BrokerError::NotClustered { waited, node, seen, nodes, log });
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
    Ok(())
}

fn timeout(nodes: usize) -> Duration {
    BOOT_TIMEOUT * u32::try_from(nodes).unwrap_or(u32::MAX)
}

/// Returns whether all boot steps are done and the node's own process listens on the AMQP port.
fn is_ready(node: &Node, installation: &Installation) -> bool {
    if !listeners_of(node.pid).iter().any(|listener| listener.address == node.address()) {
        return false;
    }
    // A booting node may not answer yet, or answers that it is not ready.
    node.eval_by(installation, "rabbit:await_startup()").is_ok_and(|answer| answer == "ok")
}

/// The first errors in the node's log or console output; without errors, the last lines of both.
fn last_words(node: &Node) -> String {
    let text = [&node.log, &node.files().join("console.log")].map(|file| lossy_text(file)).concat();
    let errors: Vec<&str> =
        text.lines().filter(|line| line.contains("[error]")).take(LOG_LINES).collect();
    let all: Vec<&str> = text.lines().collect();
    let said =
        if errors.is_empty() { &all[all.len().saturating_sub(LOG_LINES)..] } else { &errors };
    if said.is_empty() {
        return format!("(it logged nothing, process {} {})", node.pid, processes::fate(node.pid));
    }
    said.join("\n")
}

fn lossy_text(file: &Path) -> String {
    fs::read(file)
        .map_or_else(|_| String::new(), |text| String::from_utf8_lossy(&text).into_owned())
}
