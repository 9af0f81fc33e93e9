//! Owners of a profile's weight: roles, queues, channels, connections, virtual hosts or processes.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use rabbitscope_profiles::{Identity, Profile};

/// The dimension by which weight is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Roles of processes.
    Role,
    /// Queues and streams, of all types.
    Queue,
    /// Clients, by their name for themselves and their user, with all processes of their connections.
    Client,
    /// Channels, with the writers and limiters that belong to them.
    Channel,
    /// Connections with all their processes.
    Connection,
    /// Virtual hosts, for processes that are known to work for one.
    Vhost,
    /// Single processes.
    Process,
}

/// An owner with its weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerShare {
    /// Role, queue, channel, connection, virtual host or pid.
    pub name: String,
    /// Virtual host of a queue, a channel or a connection.
    pub vhost: String,
    /// Weight in the unit of the profile's event.
    pub weight: u64,
    /// Number of processes with some of the weight.
    pub processes: usize,
}

/// Roles whose processes have a channel's name.
const OF_CHANNEL: [&str; 3] = ["channel", "writer", "limiter"];

impl Dimension {
    /// Returns name and virtual host of a process's owner; `None` without an owner in this dimension.
    pub fn owner<'a>(
        self,
        pid: &'a str,
        known: Option<&'a Identity>,
    ) -> Option<(&'a str, &'a str)> {
        if self == Self::Process {
            return Some((pid, ""));
        }
        let identity = known?;
        let vhost = identity.vhost.as_str();
        let (name, vhost) = match self {
            Self::Role => (identity.role.as_str(), ""),
            Self::Queue if identity.is_queue() => (identity.name.as_str(), vhost),
            Self::Channel if OF_CHANNEL.contains(&identity.role.as_str()) => {
                (identity.name.as_str(), vhost)
            }
            Self::Client => (identity.client.as_str(), ""),
            Self::Connection => (identity.connection.as_str(), vhost),
            Self::Vhost => (vhost, ""),
            Self::Queue | Self::Channel | Self::Process => return None,
        };
        (!name.is_empty()).then_some((name, vhost))
    }
}

/// Returns all owners of this dimension, by the largest weight, then by name. Leaves out weight without a process, or
/// of a process without an owner.
pub fn owner_shares(profile: &Profile, dimension: Dimension) -> Vec<OwnerShare> {
    let mut found: HashMap<(&str, &str), (u64, HashSet<&str>)> = HashMap::new();
    for sample in &profile.samples {
        let Some(pid) = sample.labels.process.as_deref() else { continue };
        let Some(owner) = dimension.owner(pid, profile.identities.get(pid)) else { continue };
        let (weight, processes) = found.entry(owner).or_default();
        *weight += sample.weight;
        processes.insert(pid);
    }
    let mut shares: Vec<OwnerShare> = found
        .into_iter()
        .map(|((name, vhost), (weight, processes))| OwnerShare {
            name: name.to_owned(),
            vhost: vhost.to_owned(),
            weight,
            processes: processes.len(),
        })
        .collect();
    shares.sort_by(|left, right| {
        let key = |share: &OwnerShare| Reverse(share.weight);
        key(left)
            .cmp(&key(right))
            .then_with(|| (&left.name, &left.vhost).cmp(&(&right.name, &right.vhost)))
    });
    shares
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    fn profile() -> Profile {
        let mut profile = read_folded(&b"a 5\nb 3\nc 2\nd 1\ne 1"[..]).unwrap();
        let processes = [
            ("<0.1.0>", "queue", "cold", "/", ""),
            ("<0.2.0>", "stream_writer", "hot", "/", ""),
            ("<0.3.0>", "channel", "x -> y (1)", "v", "x -> y"),
            ("<0.4.0>", "writer", "x -> y (1)", "v", "x -> y"),
        ];
        for (sample, (pid, role, name, vhost, connection)) in
            profile.samples.iter_mut().zip(processes)
        {
            sample.labels.process = Some(pid.into());
            let text = str::to_owned;
            let identity = Identity {
                role: text(role),
                name: text(name),
                vhost: text(vhost),
                connection: text(connection),
                ..Identity::default()
            };
            profile.identities.insert(pid.to_owned(), identity);
        }
        profile
    }

    fn check(dimension: Dimension, expected: &[(&str, u64, usize)]) {
        let shares = owner_shares(&profile(), dimension);
        let found: Vec<(&str, u64, usize)> = shares
            .iter()
            .map(|share| (share.name.as_str(), share.weight, share.processes))
            .collect();
        assert_eq!(found, expected, "{dimension:?}");
    }

    #[test]
    fn weight_is_added_up_by_owner() {
        check(Dimension::Queue, &[("cold", 5, 1), ("hot", 3, 1)]);
        check(Dimension::Channel, &[("x -> y (1)", 3, 2)]);
        check(Dimension::Connection, &[("x -> y", 3, 2)]);
        check(Dimension::Vhost, &[("/", 8, 2), ("v", 3, 2)]);
        let roles = [("queue", 5, 1), ("stream_writer", 3, 1), ("channel", 2, 1), ("writer", 1, 1)];
        check(Dimension::Role, &roles);
        assert_eq!(owner_shares(&profile(), Dimension::Process).len(), 4);
    }
}
