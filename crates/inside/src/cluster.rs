//! The nodes of a cluster, as one of them reports them.

use std::{collections::BTreeSet, time::Duration};

use rabbitscope_erlang::{Connection, ErlangError};
use serde::Serialize;

/// Timeout of the request; the node asks all others whether their broker runs.
const MEMBERS_TIMEOUT: Duration = Duration::from_secs(20);

/// Names of the functions since RabbitMQ 3.11, and before.
const MEMBERS: [&str; 2] = ["list_members", "all"];
const RUNNING: [&str; 2] = ["list_running", "all_running"];

/// The nodes of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterMembers {
    /// Nodes with a running broker, in the order of their names.
    pub running: Vec<String>,
    /// The other nodes.
    pub down: Vec<String>,
}

/// A node without data, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingNode {
    /// Name of the node.
    pub node: String,
    /// One sentence without a full stop.
    pub reason: String,
}

/// Asks a node for the nodes of its cluster.
pub fn cluster_members(connection: &Connection) -> Result<ClusterMembers, ErlangError> {
    let (all, running) = (nodes(connection, MEMBERS)?, nodes(connection, RUNNING)?);
    let down = all.difference(&running).cloned().collect();
    Ok(ClusterMembers { running: running.into_iter().collect(), down })
}

fn nodes(connection: &Connection, names: [&str; 2]) -> Result<BTreeSet<String>, ErlangError> {
    let [name, earlier] = names;
    let ask = |name| connection.call("rabbit_nodes", name, Vec::new(), MEMBERS_TIMEOUT);
    let answer = match ask(name) {
        Err(ErlangError::Remote { .. }) => ask(earlier)?,
        answered => answered?,
    };
    let names = answer.as_list().and_then(|list| {
        list.iter().map(|node| node.as_atom().map(str::to_owned)).collect::<Option<_>>()
    });
    names.ok_or_else(|| ErlangError::unexpected("names of nodes", &answer))
}

/// Returns a line for each node without data.
pub(crate) fn missing_lines(missing: &[MissingNode]) -> String {
    let line = |missing: &MissingNode| format!("\nnot shown: {}, {}", missing.node, missing.reason);
    missing.iter().map(line).collect()
}

/// Puts the node before the cells of a table row.
pub(crate) fn behind_node<T>(node: T, cells: [T; 8]) -> [T; 9] {
    let mut all = std::iter::once(node).chain(cells);
    std::array::from_fn(|_| all.next().expect("a node and eight cells"))
}
