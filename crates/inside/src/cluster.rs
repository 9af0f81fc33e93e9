//! Which nodes a cluster has, as one of them knows.

use std::{collections::BTreeSet, time::Duration};

use rabbitscope_erlang::{Connection, ErlangError};
use serde::Serialize;

/// The node asks all others whether their broker runs.
const MEMBERS_TIMEOUT: Duration = Duration::from_secs(20);

/// The names of the functions since RabbitMQ 3.11, and before that.
const MEMBERS: [&str; 2] = ["list_members", "all"];
const RUNNING: [&str; 2] = ["list_running", "all_running"];

/// The nodes of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterMembers {
    /// Those whose broker runs, in order of their names.
    pub running: Vec<String>,
    /// The others.
    pub down: Vec<String>,
}

/// A node of which nothing is known, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingNode {
    /// Its name.
    pub node: String,
    /// One sentence without its end.
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

/// A line for each node of which nothing is known.
pub(crate) fn missing_lines(missing: &[MissingNode]) -> String {
    let line = |it: &MissingNode| format!("\nnot shown: {}, {}", it.node, it.reason);
    missing.iter().map(line).collect()
}

/// A row of a table with the node before its cells.
pub(crate) fn behind_node<T>(node: T, cells: [T; 8]) -> [T; 9] {
    let mut all = std::iter::once(node).chain(cells);
    std::array::from_fn(|_| all.next().expect("a node and eight cells"))
}
