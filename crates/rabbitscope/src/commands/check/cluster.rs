//! The nodes of a cluster, each with the means to read it.

use std::time::Duration;

use rabbitscope_check::CheckOptions;
use rabbitscope_diagnosis::MissingMember;
use rabbitscope_inside::{ClusterMembers, cluster_members};

use super::without_connection::without_connection;
use crate::commands::inside::NodeArguments;

/// The nodes of a cluster.
pub(super) struct ClusterNodes {
    /// Running nodes.
    pub(super) options: Vec<CheckOptions>,
    /// The other nodes.
    pub(super) missing: Vec<MissingMember>,
}

/// Finds the nodes through the one that the user named.
pub(super) fn nodes(arguments: &NodeArguments, duration: Duration) -> anyhow::Result<ClusterNodes> {
    let ClusterMembers { running, down } = cluster_members(&arguments.connect()?)?;
    let options = running.into_iter().map(|name| {
        let member = arguments.of_member(&name);
        CheckOptions {
            pid: member.process().ok().map(|process| process.pid),
            connect: member.options().map_err(|error| without_connection(&error)),
            session: None,
            amqp: None,
            node: name,
            duration,
            frequency_hz: CheckOptions::FREQUENCY_HZ,
        }
    });
    let is_down = |node| MissingMember { node, reason: "it is not running".to_owned() };
    Ok(ClusterNodes {
        options: options.collect(),
        missing: down.into_iter().map(is_down).collect(),
    })
}
