//! `connections-of`: groups on the connections of another group.

use std::collections::BTreeMap;

use super::{
    super::{
        error::{Problem, refuse_at},
        model::{ConsumerGroup, Protocol, PublisherGroup, UNSET},
    },
    fields,
};

/// What a group of publishers or consumers says about its connections.
struct Group<'a> {
    name: &'a str,
    protocol: Protocol,
    count: u32,
    connections: &'a mut u32,
    channels: u32,
    of: Option<&'a str>,
    /// Its place in the scenario.
    place: [String; 2],
}

impl Group<'_> {
    fn refuse<T>(&self, key: &str, reason: impl Into<String>) -> Result<T, Problem> {
        refuse_at(&[&self.place[0], &self.place[1], key], reason)
    }
}

fn groups<'a>(
    publishers: &'a mut [PublisherGroup],
    consumers: &'a mut [ConsumerGroup],
) -> Vec<Group<'a>> {
    let publishers = publishers.iter_mut().enumerate().map(|(at, group)| Group {
        name: &group.name,
        protocol: group.protocol,
        count: group.count,
        connections: &mut group.connections,
        channels: group.channels,
        of: group.connections_of.as_deref(),
        place: ["publishers".to_owned(), at.to_string()],
    });
    let consumers = consumers.iter_mut().enumerate().map(|(at, group)| Group {
        name: &group.name,
        protocol: group.protocol,
        count: group.count,
        connections: &mut group.connections,
        channels: group.channels,
        of: group.connections_of.as_deref(),
        place: ["consumers".to_owned(), at.to_string()],
    });
    publishers.chain(consumers).collect()
}

/// Gives groups the number of the connections that they share.
pub(super) fn connections(
    publishers: &mut [PublisherGroup],
    consumers: &mut [ConsumerGroup],
) -> Result<(), Problem> {
    for (at, group) in publishers.iter_mut().enumerate() {
        fields::name(&mut group.name, "publishers", at);
    }
    for (at, group) in consumers.iter_mut().enumerate() {
        fields::name(&mut group.name, "consumers", at);
    }
    let mut groups = groups(publishers, consumers);
    let hosts: Vec<(String, Protocol, u32, bool)> = groups
        .iter()
        .map(|group| {
            (group.name.to_owned(), group.protocol, *group.connections, group.of.is_some())
        })
        .collect();
    for group in &mut groups {
        let Some(of) = group.of else { continue };
        let key = "connections-of";
        let mut named = hosts.iter().filter(|(name, ..)| name == of);
        let (host, other) = (named.next(), named.next());
        let Some(&(_, protocol, connections, is_guest)) = host else {
            let reason = format!("no group of publishers or consumers has the name `{of}`");
            return group.refuse(key, reason);
        };
        if other.is_some() {
            let reason = format!("several groups have the name `{of}`: give each its own");
            return group.refuse(key, reason);
        }
        if is_guest {
            let reason = if group.name == of {
                "names the group itself: leave it out".to_owned()
            } else {
                format!("`{of}` uses the connections of another group, too: name that one")
            };
            return group.refuse(key, reason);
        }
        if [group.protocol, protocol].iter().any(|protocol| *protocol != Protocol::Amqp091) {
            return group.refuse(key, "needs `protocol = \"amqp-0-9-1\"` of both groups");
        }
        let used = connections.min(group.count);
        if *group.connections != 1 && *group.connections != used {
            let reason = format!("follows from `connections-of`, and is {used}: leave it out");
            return group.refuse("connections", reason);
        }
        *group.connections = used;
    }
    Ok(())
}

/// Checks that all channels of shared connections find room. Each group has its number of channels by now.
pub(super) fn channels(
    publishers: &mut [PublisherGroup],
    consumers: &mut [ConsumerGroup],
) -> Result<(), Problem> {
    let groups = groups(publishers, consumers);
    let mut used: BTreeMap<&str, u32> = BTreeMap::new();
    for group in groups.iter().filter(|group| group.channels != UNSET) {
        *used.entry(group.of.unwrap_or(group.name)).or_default() += group.channels;
    }
    for (group, host) in groups.iter().filter_map(|group| Some((group, group.of?))) {
        let of_all = used.get(host).copied().unwrap_or_default();
        if of_all > fields::CHANNELS_MAX {
            let most = fields::CHANNELS_MAX;
            let reason = format!(
                "{of_all} channels of groups would share a connection, which has at most {most}"
            );
            return group.refuse("connections-of", reason);
        }
    }
    Ok(())
}
