//! Finds the Erlang nodes of this machine and their names.

use std::{io, path::Path};

use rabbitscope_machine::process::{arguments, first_argument, pids};

use super::process::Process;
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// An Erlang VM on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Process id in this process's pid namespace.
    pub pid: u32,
    /// Node name (`rabbit@host`); `None` if it is unreadable from outside.
    pub name: Option<String>,
}

/// All Erlang VMs of this machine, by pid. A process that the caller may not read is listed if its program name is
/// that of a VM.
pub fn list_nodes() -> Result<Vec<Node>, ProbeError> {
    let mut pids = vms_by_name().map_err(ProbeError::io("listing /proc"))?;
    pids.sort_unstable();
    Ok(pids.into_iter().filter_map(node_of).collect())
}

fn vms_by_name() -> io::Result<Vec<u32>> {
    let _raised = raise(NODE);
    Ok(pids()?.into_iter().filter(|&pid| calls_itself_beam(pid)).collect())
}

/// The node of a process with the program name of a VM.
fn node_of(pid: u32) -> Option<Node> {
    let from_arguments = arguments(pid).and_then(|all| name_in(&all));
    let name = match Process::open(pid) {
        // RabbitMQ's start script exports this variable.
        Ok(process) => from_arguments.or_else(|| process.variable("RABBITMQ_NODENAME")),
        Err(error) if error.is_permission() => from_arguments,
        Err(_) => return None,
    };
    Some(Node { pid, name })
}

/// The node called `name`. A name without `@` matches any host.
pub fn find_node(name: &str) -> Result<Node, ProbeError> {
    let nodes = list_nodes()?;
    let called = |node: &&Node| node.name.as_deref().is_some_and(|own| matches(own, name));
    let mut found = nodes.iter().filter(called);
    match (found.next(), found.next()) {
        (Some(node), None) => Ok(node.clone()),
        (None, _) => Err(ProbeError::NoSuchNode { name: name.into(), known: names_of(&nodes) }),
        // Two users may start nodes with the same name.
        (Some(_), Some(_)) => Err(ProbeError::SeveralNodes { known: names_of(&nodes) }),
    }
}

/// The node called `usual`, or the only node if none has that name.
pub fn default_node(mut nodes: Vec<Node>, usual: &str) -> Result<Node, ProbeError> {
    let called = |node: &Node| node.name.as_deref().is_some_and(|own| matches(own, usual));
    let several = || ProbeError::SeveralNodes { known: names_of(&nodes) };
    let mut found = nodes.iter().filter(|node| called(node));
    match (found.next(), found.next()) {
        (Some(node), None) => Ok(node.clone()),
        (Some(_), Some(_)) => Err(several()),
        (None, _) if nodes.len() > 1 => Err(several()),
        (None, _) => nodes.pop().ok_or(ProbeError::NoNodes),
    }
}

fn matches(own: &str, asked: &str) -> bool {
    own == asked || (!asked.contains('@') && own.split('@').next() == Some(asked))
}

fn names_of(nodes: &[Node]) -> Vec<String> {
    nodes
        .iter()
        .map(|node| match &node.name {
            Some(name) => format!("{name} (pid {})", node.pid),
            None => format!("pid {}", node.pid),
        })
        .collect()
}

/// Returns whether the program name is that of a VM. Needs no privilege.
pub(super) fn calls_itself_beam(pid: u32) -> bool {
    first_argument(pid).is_some_and(|program| {
        Path::new(&program)
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name == "beam.smp" || name.starts_with("beam."))
    })
}

/// The node name in `-sname` or `-name`.
pub(super) fn name_in(arguments: &[String]) -> Option<String> {
    let mut pairs = arguments.windows(2);
    pairs.find(|pair| pair[0] == "-sname" || pair[0] == "-name").map(|pair| pair[1].clone())
}

#[cfg(test)]
mod tests {
    use super::{Node, default_node, matches, name_in};

    #[test]
    fn a_name_without_host_matches_any_host() {
        assert!(matches("rabbit@a", "rabbit"));
        assert!(matches("rabbit@a", "rabbit@a"));
        assert!(!matches("rabbit@a", "rabbit@b"));
        assert!(!matches("rabbit@a", "rab"));
    }

    #[track_caller]
    fn check_default(names: &[&str], expected: Option<&str>) {
        let node = |(pid, name): (u32, &&str)| Node { pid, name: Some((*name).to_owned()) };
        let found = default_node((1..).zip(names).map(node).collect(), "rabbit");
        assert_eq!(found.ok().and_then(|node| node.name).as_deref(), expected);
    }

    #[test]
    fn the_node_with_the_usual_name_or_the_only_one() {
        check_default(&["a@h", "rabbit@h", "b@h"], Some("rabbit@h"));
        check_default(&["a@h"], Some("a@h"));
        check_default(&["a@h", "b@h"], None);
        check_default(&["rabbit@h", "rabbit@i", "a@h"], None);
        check_default(&[], None);
    }

    #[test]
    fn the_name_is_an_argument() {
        let arguments = ["beam.smp", "-sname", "x"].map(str::to_owned);
        assert_eq!(name_in(&arguments).as_deref(), Some("x"));
    }
}
