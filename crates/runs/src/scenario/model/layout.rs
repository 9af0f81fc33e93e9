//! The connections of publishers and consumers, and the channels of groups that share them.

use std::{collections::BTreeMap, ops::RangeInclusive};

use super::Scenario;

/// The connections and channels of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLayout<'a> {
    /// Name of the group.
    pub name: &'a str,
    /// True for consumers.
    pub is_reading: bool,
    /// The group whose connections the members use: this one, or the one that `connections-of` names.
    pub host: &'a str,
    /// Number of connections of its own; 0 for members on those of another group.
    pub connections: u32,
    /// Channels on each connection. On some connections the last ones are not used, where members are few.
    pub channels: RangeInclusive<u32>,
}

impl Scenario {
    /// Returns the layout of consumers and then publishers, in the order of the numbers that a load gives to their
    /// connections.
    pub fn layout(&self) -> Vec<GroupLayout<'_>> {
        let consumers = self.consumers.iter().map(|group| {
            let counts = (group.connections, group.channels);
            (group.name.as_str(), true, group.connections_of.as_deref(), counts)
        });
        let publishers = self.publishers.iter().map(|group| {
            let counts = (group.connections, group.channels);
            (group.name.as_str(), false, group.connections_of.as_deref(), counts)
        });
        let all: Vec<_> = consumers.chain(publishers).collect();
        let hosts = all.iter().filter(|(.., host, _)| host.is_none());
        let mut used: BTreeMap<&str, u32> =
            hosts.map(|(name, .., (_, channels))| (*name, *channels)).collect();
        let layouts = all.into_iter().map(|(name, is_reading, host, (connections, channels))| {
            let (connections, first) = match host.and_then(|host| used.get_mut(host)) {
                Some(used) => {
                    let first = *used + 1;
                    *used += channels;
                    (0, first)
                }
                None => (connections, 1),
            };
            let channels = first..=(first + channels - 1).max(first);
            GroupLayout { name, is_reading, host: host.unwrap_or(name), connections, channels }
        });
        layouts.collect()
    }

    /// Returns the name of the group of each connection of consumers and publishers, in the order of the numbers that a
    /// load gives to connections: `rabbitscope-RUN-NUMBER` of a client of MQTT.
    pub fn groups_by_connection(&self) -> Vec<&str> {
        let layout = self.layout().into_iter();
        layout.flat_map(|of| core::iter::repeat_n(of.name, of.connections as usize)).collect()
    }
}
