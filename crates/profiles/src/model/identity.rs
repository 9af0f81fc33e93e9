//! Roles and names of Erlang processes, as the node reported them. The means of asking are elsewhere.

use std::collections::BTreeMap;

/// The role and the name of a process. Unknown texts are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Its role as one word: `queue`, `channel`, `reader` … `gone` if the process had ended before it could be asked
    /// and its stacks show no role.
    pub role: String,
    /// The name of a queue, a channel or a connection. Other processes have their registered name or their initial
    /// function.
    pub name: String,
    /// The virtual host of a queue, a channel or a connection.
    pub vhost: String,
    /// The name of the connection that it serves, which has both ends' addresses.
    pub connection: String,
    /// The name that the client of that connection gave itself, and its user: `shop, user guest` or `user guest`.
    pub client: String,
}

/// The role of a process that is unknown by now.
pub const GONE: &str = "gone";

/// Roles of queues. Other processes do the work of quorum queues and streams.
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
    /// Returns whether the process belongs to a queue.
    pub fn is_queue(&self) -> bool {
        QUEUE_ROLES.contains(&self.role.as_str())
    }

    /// Returns the client's own name without its user. `None` if it has none.
    pub fn client_name(&self) -> Option<&str> {
        let named = self.client.rsplit_once(", user ").map_or(&*self.client, |(name, _)| name);
        Some(named).filter(|name| !name.is_empty() && !name.starts_with("user "))
    }
}

/// Known identities of a profile's processes, by pid as the node prints it.
pub type Identities = BTreeMap<String, Identity>;
