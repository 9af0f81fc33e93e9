//! Names of clients, queues and processes for people.

use crate::case::{Case, ChannelCase, ConnectionCase, FlowProcess, ProcessCpu, QueueCase};

/// Returns the client's own name, its user and its channel.
pub(crate) fn channel(channel: &ChannelCase) -> String {
    client(&channel.client, &channel.user, &channel.name, &channel.pid)
}

/// Returns the client's own name, its user and its addresses.
pub(crate) fn connection(connection: &ConnectionCase) -> String {
    client(&connection.client, &connection.user, &connection.name, &connection.pid)
}

/// Returns the name of a queue, with its virtual host unless that is `/`. Costs have the same names.
pub fn queue(queue: &QueueCase) -> String {
    in_vhost(&queue.name, &queue.vhost)
}

/// Returns a name with its virtual host unless that is `/`.
pub(crate) fn in_vhost(name: &str, vhost: &str) -> String {
    if matches!(vhost, "/" | "") { name.to_owned() } else { format!("{name} in {vhost}") }
}

/// Returns the role and the name of a process of flow control, with the client that it serves.
pub(crate) fn flow_process(process: &FlowProcess) -> String {
    let name = if process.name.is_empty() { &process.pid } else { &process.name };
    match process.client.as_str() {
        "" => format!("{} {name}", process.role),
        client => format!("{} {name} of {client}", process.role),
    }
}

/// Returns the role and the name of a process.
pub(crate) fn process(process: &ProcessCpu) -> String {
    let name = if process.name.is_empty() { &process.pid } else { &process.name };
    let role = if process.role.is_empty() { "process" } else { &process.role };
    format!("{role} {}", in_vhost(name, &process.vhost))
}

/// Returns the role and the name of a process, with the client that it serves.
pub(crate) fn serving(case: &Case, process: &ProcessCpu) -> String {
    let Ok(clients) = &case.clients else { return self::process(process) };
    let channel = clients.channels.iter().find(|channel| channel.pid == process.pid);
    // A writer has the name of its connection, and a pid of its own.
    let connection = clients.connections.iter().find(|connection| {
        connection.pid == process.pid || process.role == "writer" && connection.name == process.name
    });
    match (channel, connection) {
        (Some(channel), _) => format!("{} {}", process.role, self::channel(channel)),
        (_, Some(connection)) => format!("{} {}", process.role, self::connection(connection)),
        _ => self::process(process),
    }
}

fn client(client: &str, user: &str, name: &str, pid: &str) -> String {
    let name = if name.is_empty() { pid } else { name };
    match (client, user) {
        ("", "") => name.to_owned(),
        ("", user) => format!("{name} (user {user})"),
        (client, "") => format!("{client} ({name})"),
        (client, user) => format!("{client} ({name}, user {user})"),
    }
}
