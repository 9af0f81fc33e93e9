//! Queues and clients with the CPU time of all their processes, however little each has.

use std::collections::HashMap;

use rabbitscope_diagnosis::{OwnerCpu, OwnerKind};
use rabbitscope_profiles::{Identity, Profile};

/// Roles of processes that serve a client alone.
const OF_CLIENT: [&str; 8] = [
    "reader",
    "writer",
    "channel",
    "session",
    "limiter",
    "mqtt_reader",
    "stomp_reader",
    "stream_reader",
];

/// Roles of processes that serve a client, or the management plugin.
const OF_TLS: [&str; 2] = ["tls_connection", "tls_sender"];

/// Returns the owners of all sampled processes, the most expensive first. `cores` is the CPU time of a weight.
pub(super) fn owners(profile: &Profile, cores: impl Fn(u64) -> f64) -> Vec<OwnerCpu> {
    let clients = clients_by_connection(profile);
    let mut weights: HashMap<&str, u64> = HashMap::new();
    for sample in &profile.samples {
        if let Some(pid) = sample.labels.process.as_deref() {
            *weights.entry(pid).or_default() += sample.weight;
        }
    }
    let mut found: HashMap<(OwnerKind, &str, &str), u64> = HashMap::new();
    for (pid, weight) in weights {
        if let Some(owner) =
            profile.identities.get(pid).and_then(|identity| owner(identity, &clients))
        {
            *found.entry(owner).or_default() += weight;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|(one, lighter), (other, heavier)| heavier.cmp(lighter).then(one.cmp(other)));
    let row = |((kind, name, vhost), weight): ((OwnerKind, &str, &str), u64)| OwnerCpu {
        kind,
        name: name.to_owned(),
        vhost: vhost.to_owned(),
        cores: cores(weight),
    };
    found.into_iter().map(row).collect()
}

/// Returns the clients' own names by connection. A file of a profile has them in the names of readers only:
/// `a -> b - shop`.
fn clients_by_connection(profile: &Profile) -> HashMap<&str, &str> {
    let all = profile.identities.values().filter(|identity| !identity.connection.is_empty());
    let own = all.filter_map(|identity| {
        let connection = identity.connection.as_str();
        let of_reader = || identity.name.strip_prefix(connection)?.strip_prefix(" - ");
        let known = identity.client_name();
        Some((connection, known.or_else(of_reader)?))
    });
    own.collect()
}

/// Returns kind, name and virtual host of the owner. `None` if the process belongs to neither a queue nor a client.
fn owner<'a>(
    identity: &'a Identity,
    clients: &HashMap<&'a str, &'a str>,
) -> Option<(OwnerKind, &'a str, &'a str)> {
    if identity.is_queue() {
        return Some((OwnerKind::Queue, &identity.name, &identity.vhost));
    }
    let role = identity.role.as_str();
    let is_of_tls = OF_TLS.contains(&role) && !identity.connection.is_empty();
    if !OF_CLIENT.contains(&role) && !is_of_tls {
        return None;
    }
    let connection = connection(identity);
    Some((OwnerKind::Client, clients.get(connection).copied().unwrap_or(connection), ""))
}

/// Returns the name of the connection. Channels and writers have it in their own: `a -> b (1)`. A process that has ended
/// has the function that it began with.
fn connection(identity: &Identity) -> &str {
    if !identity.connection.is_empty() {
        return &identity.connection;
    }
    let name = identity.name.as_str();
    let addresses = name.rsplit_once(" (").map_or(name, |(addresses, _)| addresses);
    if addresses.contains(" -> ") { addresses } else { "" }
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    /// Pid, role, name, connection and client.
    type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

    fn profile(rows: &[Row<'_>]) -> Profile {
        let stack = |row: &Row<'_>| format!("scheduler;m:f_{}/0 10", row.0);
        let stacks: Vec<String> = rows.iter().map(stack).collect();
        let mut profile = read_folded(stacks.join("\n").as_bytes()).unwrap();
        let frames = profile.frames.clone();
        for sample in &mut profile.samples {
            let name = &frames.get(sample.stack[1].frame).name;
            let is_of = |row: &&Row<'_>| *name == format!("m:f_{}/0", row.0);
            let &(pid, role, name, connection, client) = rows.iter().find(is_of).unwrap();
            sample.labels.process = Some(pid.into());
            let [role, name, connection, client] =
                [role, name, connection, client].map(str::to_owned);
            let identity = Identity { role, name, vhost: "/".to_owned(), connection, client };
            profile.identities.insert(pid.to_owned(), identity);
        }
        profile
    }

    #[track_caller]
    fn check(rows: &[Row<'_>], expected: &[(OwnerKind, &str, f64)]) {
        let found = owners(&profile(rows), |weight| weight as f64);
        let found: Vec<_> =
            found.iter().map(|owner| (owner.kind, owner.name.as_str(), owner.cores)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn processes_of_a_client_are_added_up() {
        const CONNECTION: &str = "1:2 -> 3:4";
        check(
            &[
                ("1", "reader", CONNECTION, CONNECTION, "shop"),
                ("2", "channel", "1:2 -> 3:4 (1)", CONNECTION, ""),
                ("3", "writer", CONNECTION, CONNECTION, ""),
                ("4", "channel", "7:8 -> 3:4 (1)", "7:8 -> 3:4", "shop"),
                ("5", "channel", "9:9 -> 3:4 (2)", "", ""),
                ("6", "writer", "9:9 -> 3:4", "", ""),
                ("7", "tls_sender", "tls_sender:init/1", "", ""),
                ("8", "quorum_follower", "orders", "", ""),
                ("9", "ra_log", "ra_log_wal", "", ""),
            ],
            &[
                (OwnerKind::Client, "shop", 40.0),
                (OwnerKind::Client, "9:9 -> 3:4", 20.0),
                (OwnerKind::Queue, "orders", 10.0),
            ],
        );
    }

    #[test]
    fn a_file_has_the_clients_name_in_that_of_the_reader() {
        check(
            &[
                ("1", "reader", "1:2 -> 3:4 - night", "1:2 -> 3:4", ""),
                ("2", "channel", "1:2 -> 3:4 (1)", "1:2 -> 3:4", ""),
            ],
            &[(OwnerKind::Client, "night", 20.0)],
        );
    }

    #[test]
    fn clients_that_are_gone_have_no_name() {
        check(&[("1", "channel", "init_it", "", "")], &[(OwnerKind::Client, "", 10.0)]);
    }
}
