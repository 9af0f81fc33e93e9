//! Waits until nodes that were started serve clients, and those of a cluster see one another.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_machine::sockets::listeners_of;

use crate::{BrokerError, Installation, Node, processes};

/// Timeout of the boot of a node, which takes seconds on an idle machine. Those of a cluster boot together, on the same CPUs.
const BOOT_TIMEOUT: Duration = Duration::from_secs(90);

/// How often a condition of the node is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Last lines of a log in an error message: about a screen.
const LOG_LINES: usize = 20;

/// How many members of the cluster a node sees running. The first is there from RabbitMQ 3.11 on.
const RUNNING_MEMBERS: &str = "length(case erlang:function_exported(rabbit_nodes, list_running, 0) of \
    true -> rabbit_nodes:list_running(); false -> rabbit_nodes:all_running() end)";

/// Returns when the node, one of so many that boot at the same time, has done all boot steps and accepts clients.
pub(crate) fn wait_until_ready(
    node: &Node,
    installation: &Installation,
    nodes: usize,
) -> Result<(), BrokerError> {
    let (started, timeout) = (Instant::now(), timeout(nodes));
    while !is_ready(node, installation) {
        // Also while it boots: what listens too widely does so for as short as possible.
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

/// Returns when each of these nodes sees all of them.
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

/// Whether all boot steps are done, and the node's own process listens on the AMQP port.
fn is_ready(node: &Node, installation: &Installation) -> bool {
    if !listeners_of(node.pid).iter().any(|listener| listener.address == node.address()) {
        return false;
    }
    // It cannot be asked yet, or says that it is not there yet.
    node.eval_by(installation, "rabbit:await_startup()").is_ok_and(|it| it == "ok")
}

/// The first errors in the node's log or on its console, or the last lines of both.
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
