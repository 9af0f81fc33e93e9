//! What Erlang processes are for, as the node said. Nothing here knows how it was asked.

use std::collections::BTreeMap;

/// What a process is for. Texts are empty where nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Its role, one word: `queue`, `channel`, `reader` … `gone` when the process had ended before
    /// anybody could ask and its stacks do not tell either.
    pub role: String,
    /// Of a queue, a channel or a connection its name, else the registered name or the function it
    /// was started with.
    pub name: String,
    /// The virtual host of a queue, a channel or a connection.
    pub vhost: String,
    /// The connection that it serves, by the connection's name; this has both ends' addresses.
    pub connection: String,
}

/// The role of a process that nobody knows any more.
pub const GONE: &str = "gone";

/// The queues among the roles. What a quorum queue or a stream does is done by others.
const QUEUE_ROLES: [&str; 7] = [
    "queue",
    "mirror",
    "quorum_leader",
    "quorum_follower",
    "ra_server",
    "stream_writer",
    "stream_replica",
];

impl Identity {
    /// Whether the process is a queue's.
    pub fn is_queue(&self) -> bool {
        QUEUE_ROLES.contains(&self.role.as_str())
    }
}

/// What is known of the processes of a profile, by pid as the node prints it.
pub type Identities = BTreeMap<String, Identity>;
