//! The processes of a node that a command selects: arguments of several commands.

use rabbitscope_erlang::probes::Who;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Processes")]
pub(in crate::commands) struct WhoArguments {
    /// One process, by the identifier that the node prints, or by its registered name
    #[arg(long, value_name = "WHO", group = "who")]
    process: Option<String>,
    /// All processes in a role
    ///
    /// Roles are reader, writer, channel, session, queue, `stream_writer`, `ra_server`, `msg_store`, `mgmt_cache`,
    /// `mgmt_stats`, http, `mqtt_reader`, `tls_connection` (receives), `tls_sender` and others.
    #[arg(long, value_name = "ROLE", group = "who")]
    pub(in crate::commands) role: Option<String>,
    /// Process of a queue: the leader of a quorum queue, the writer of a stream
    #[arg(long, value_name = "NAME", group = "who")]
    queue: Option<String>,
    /// Virtual host of the queue, if several have a queue of this name
    #[arg(long, value_name = "NAME", requires = "queue")]
    vhost: Option<String>,
    /// Supervisor, by its registered name, and everything below it
    #[arg(long, value_name = "SUPERVISOR", group = "who")]
    tree: Option<String>,
}

impl WhoArguments {
    /// Returns the selection, including a role.
    pub(in crate::commands) fn who(&self) -> Option<Who> {
        self.without_role().or_else(|| self.role.clone().map(Who::Role))
    }

    /// Returns the selection for commands in which a role is a filter. It includes processes that begin later.
    pub(in crate::commands) fn without_role(&self) -> Option<Who> {
        let process = self.process.as_deref().map(Who::process);
        let queue = || {
            let name = self.queue.clone()?;
            Some(Who::Queue { name, vhost: self.vhost.clone() })
        };
        process.or_else(queue).or_else(|| self.tree.clone().map(Who::Tree))
    }
}
