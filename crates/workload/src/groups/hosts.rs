//! Groups on the connections of another group.

use std::collections::{BTreeMap, BTreeSet};

use super::{publishers::PublisherGroup, readers::ReaderGroup};
use crate::observe::Protocol;

/// The connections of a group.
struct Group<'a> {
    name: &'a str,
    count: usize,
    on: &'a BTreeSet<u64>,
    /// True if a scenario can put the group onto the connections of another one, and others onto its own.
    is_sociable: bool,
}

impl Group<'_> {
    /// Returns whether the members of this group can be on the connections of a host, each on the next one.
    fn fits(&self, host: &Self) -> bool {
        self.on == host.on || self.count == self.on.len() && self.on.is_subset(host.on)
    }
}

/// Finds groups whose members all use connections of another group. Returns the number of connections that groups share in
/// another way.
pub(super) fn find(
    publishers: &mut [PublisherGroup],
    readers: &mut [ReaderGroup],
    responders: &[&ReaderGroup],
) -> u64 {
    let of_publishers = publishers.iter().map(|group| Group {
        name: &group.name,
        count: group.count,
        on: &group.on,
        is_sociable: group.settings.protocol == Protocol::Amqp091 && !group.is_of_requests(),
    });
    let of_readers = readers.iter().map(|group| Group {
        name: &group.name,
        count: group.count,
        on: &group.on,
        is_sociable: group.settings.protocol == Protocol::Amqp091,
    });
    let of_responders = responders.iter().map(|group| Group {
        name: &group.name,
        count: group.count,
        on: &group.on,
        is_sociable: false,
    });
    let groups: Vec<Group<'_>> = of_publishers.chain(of_readers).chain(of_responders).collect();
    let guests = guests(&groups);
    let shared = otherwise_shared(&groups, &guests);
    for group in publishers {
        group.host = guests.get(&group.name).cloned();
    }
    for group in readers {
        group.host = guests.get(&group.name).cloned();
    }
    shared
}

/// Returns the hosts of groups, by name. Larger groups are hosts of smaller ones.
fn guests(groups: &[Group<'_>]) -> BTreeMap<String, String> {
    let mut sociable: Vec<&Group<'_>> = groups.iter().filter(|group| group.is_sociable).collect();
    sociable.sort_by_key(|group| std::cmp::Reverse(group.on.len()));
    let mut hosts: Vec<&Group<'_>> = Vec::new();
    let mut guests = BTreeMap::new();
    for group in sociable {
        match hosts.iter().find(|host| group.fits(host)) {
            Some(host) => {
                guests.insert(group.name.to_owned(), host.name.to_owned());
            }
            None => hosts.push(group),
        }
    }
    guests
}

fn otherwise_shared(groups: &[Group<'_>], guests: &BTreeMap<String, String>) -> u64 {
    let mut used: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for group in groups {
        let host = guests.get(group.name).map_or(group.name, String::as_str);
        for connection in group.on {
            used.entry(*connection).or_default().insert(host);
        }
    }
    used.values().filter(|hosts| hosts.len() > 1).count() as u64
}
