//! Which Erlang nodes run on this machine, and under which names.

use std::{fs, path::Path};

use crate::error::ProbeError;

/// An Erlang VM on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its process id as seen from here.
    pub pid: u32,
    /// Its node name (`rabbit@host`), when it can be told from outside.
    pub name: Option<String>,
}

/// All Erlang VMs of this machine, by pid.
pub fn list_nodes() -> Result<Vec<Node>, ProbeError> {
    let entries = fs::read_dir("/proc").map_err(ProbeError::io("listing /proc"))?;
    let mut nodes: Vec<Node> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_beam(pid))
        .map(|pid| Node { pid, name: node_name(pid) })
        .collect();
    nodes.sort_by_key(|node| node.pid);
    Ok(nodes)
}

/// The node called `name`; a name without `@` matches any host.
pub fn find_node(name: &str) -> Result<Node, ProbeError> {
    let nodes = list_nodes()?;
    let known = names_of(&nodes);
    nodes
        .into_iter()
        .find(|node| node.name.as_deref().is_some_and(|own| matches(own, name)))
        .ok_or(ProbeError::NoSuchNode { name: name.into(), known })
}

/// The only node of this machine; an error when there is none or several.
pub fn sole_node() -> Result<Node, ProbeError> {
    let mut nodes = list_nodes()?;
    match nodes.len() {
        0 => Err(ProbeError::NoNodes),
        1 => Ok(nodes.remove(0)),
        _ => Err(ProbeError::SeveralNodes { known: names_of(&nodes) }),
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

/// Whether `pid` calls itself an Erlang VM. Needs no privilege.
pub(crate) fn is_beam(pid: u32) -> bool {
    first_argument(pid).is_some_and(|program| {
        Path::new(&program)
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name == "beam.smp" || name.starts_with("beam."))
    })
}

/// The program that `pid` says it runs.
pub(crate) fn first_argument(pid: u32) -> Option<String> {
    nul_separated(&fs::read(format!("/proc/{pid}/cmdline")).ok()?).into_iter().next()
}

/// From `-sname`/`-name`, else from RabbitMQ's own variable, which its start script exports.
fn node_name(pid: u32) -> Option<String> {
    let arguments = nul_separated(&fs::read(format!("/proc/{pid}/cmdline")).ok()?);
    let from_arguments = arguments
        .windows(2)
        .find(|pair| pair[0] == "-sname" || pair[0] == "-name")
        .map(|pair| pair[1].clone());
    from_arguments.or_else(|| {
        nul_separated(&fs::read(format!("/proc/{pid}/environ")).ok()?)
            .into_iter()
            .find_map(|entry| entry.strip_prefix("RABBITMQ_NODENAME=").map(str::to_owned))
    })
}

fn nul_separated(bytes: &[u8]) -> Vec<String> {
    bytes
        .split(|&byte| byte == 0)
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{matches, nul_separated};

    #[test]
    fn a_name_without_host_matches_any_host() {
        assert!(matches("rabbit@a", "rabbit"));
        assert!(matches("rabbit@a", "rabbit@a"));
        assert!(!matches("rabbit@a", "rabbit@b"));
        assert!(!matches("rabbit@a", "rab"));
    }

    #[test]
    fn arguments_are_separated_by_nul() {
        assert_eq!(nul_separated(b"beam.smp\0-sname\0x\0"), ["beam.smp", "-sname", "x"]);
    }
}
