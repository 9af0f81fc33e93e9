//! The node that is read, by its name or its process.

use std::time::Duration;

use rabbitscope_check::CheckOptions;
use rabbitscope_probe::{Node, ProbeError};
use rabbitscope_terminal::{UsageError, output};

use super::without_connection::without_connection;
use crate::commands::inside::NodeArguments;

/// The arguments that name a node.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Subject<'a> {
    /// Process identifier, if the user gave one.
    pub(in crate::commands) pid: Option<u32>,
    pub(in crate::commands) node: &'a NodeArguments,
}

impl Subject<'_> {
    /// Says which node stands for its cluster, if the user named a cluster. `verb` is what the command does with one node,
    /// `end` the end of the sentence.
    pub(in crate::commands) fn noted(self, verb: &str, end: &str) -> Self {
        let nodes = self.pid.map_or_else(|| self.node.nodes_of_cluster(), |_| Vec::new());
        if let [first, others @ ..] = &nodes[..] {
            let others = others.join(", ");
            output::note(&format!(
                "{first} stands for its cluster; --node {verb} another one ({others}){end}"
            ));
        }
        self
    }

    /// Returns the node's process and the way to its inside. One of both is enough.
    pub(in crate::commands) fn options(&self, duration: Duration) -> anyhow::Result<CheckOptions> {
        let process = self.process();
        let connect = match &process {
            Ok(process) => self.node.options_of(process.pid, process.name.clone()),
            Err(_) => self.node.options(),
        };
        let (pid, name) = match (&connect, process) {
            (_, Ok(process)) => (Some(process.pid), process.name),
            // A named node may run elsewhere. Without a name, or with several nodes of that name here, the error lists
            // the nodes to choose from.
            (Ok(_), Err(error)) if self.node.is_elsewhere() && !is_ambiguous(&error) => {
                (None, None)
            }
            (_, Err(error)) => return Err(error),
        };
        let of_connection = connect.as_ref().ok().map(|options| options.node.to_string());
        let named = name.or(of_connection).or_else(|| pid.map(|pid| format!("process {pid}")));
        Ok(CheckOptions {
            node: named.unwrap_or_default(),
            pid,
            amqp: None,
            connect: connect.map_err(|error| without_connection(&error)),
            session: None,
            duration,
            frequency_hz: CheckOptions::FREQUENCY_HZ,
        })
    }

    /// Returns the node's process on this machine.
    fn process(&self) -> anyhow::Result<Node> {
        let Some(pid) = self.pid else { return self.node.process() };
        let known = rabbitscope_probe::list_nodes()?.into_iter().find(|node| node.pid == pid);
        let message = || UsageError(format!("process {pid} is no Erlang VM of this machine"));
        Ok(known.ok_or_else(message)?)
    }
}

/// Returns whether several nodes of this machine fit.
fn is_ambiguous(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(ProbeError::SeveralNodes { .. }))
}
