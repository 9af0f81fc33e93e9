//! Flows of a run ─► measurements of the groups of its scenario, by the same code as those of the source. The load of a
//! scenario names its groups, so that no flow has to be recognized by its behaviour: in the names of connections, and by the
//! number of a connection in the identifiers of clients of MQTT. Groups that share connections have channels of their own.

use std::{collections::BTreeMap, ops::RangeInclusive};

use rabbitscope_runs::scenario::{GroupLayout, Scenario};

use super::measurements::{Group, Measurements, Publishing, Reading};
use crate::{
    groups::{PublisherGroup, ReaderGroup},
    observe::{Flows, PublishFlow, ReadFlow},
};

impl Measurements {
    /// Measures the groups of a source in the flows of a run of this scenario.
    pub fn from_run(flows: &Flows, source: &Self, scenario: &Scenario) -> Self {
        let (layout, connections) = (scenario.layout(), scenario.groups_by_connection());
        let place = |name, is_reading| Place::new(name, is_reading, &layout, &connections);
        let mut groups = BTreeMap::new();
        for (name, kind) in &source.groups {
            let group = match kind {
                Group::Publishers(_) => {
                    publishing(flows, &place(name, false)).map(Group::Publishers)
                }
                Group::Readers(_) => reading(flows, &place(name, true)).map(Group::Readers),
            };
            groups.extend(group.map(|group| (name.clone(), group)));
        }
        Self { groups, ..Self::of_flows(flows) }
    }
}

/// The place of a group in a run.
struct Place<'a> {
    /// The group of its connections.
    host: &'a str,
    /// Its channels, if other groups use these connections.
    channels: Option<RangeInclusive<u32>>,
    /// The groups of all connections, by number.
    connections: &'a [&'a str],
}

impl<'a> Place<'a> {
    fn new(
        name: &'a str,
        is_reading: bool,
        layout: &'a [GroupLayout<'a>],
        connections: &'a [&'a str],
    ) -> Self {
        let layout_of = layout.iter().find(|of| of.name == name && of.is_reading == is_reading);
        let host = layout_of.map_or(name, |of| of.host);
        let is_shared = layout.iter().any(|of| of.host == host && of.name != host);
        let channels = layout_of.filter(|_| is_shared).map(|of| of.channels.clone());
        Self { host, channels, connections }
    }

    /// Returns whether a flow is of the group, by the name of the connection's group or by the number in the client's
    /// identifier: `rabbitscope-RUN-NUMBER`.
    fn has(&self, group: Option<&String>, client_id: Option<&String>, channel: u16) -> bool {
        let by_number = || {
            let (_, number) = client_id?.strip_prefix("rabbitscope-")?.rsplit_once('-')?;
            self.connections.get(number.parse::<usize>().ok()?).copied()
        };
        let found = group.map(String::as_str).or_else(by_number);
        let channels = self.channels.as_ref();
        found == Some(self.host)
            && channels.is_none_or(|channels| channels.contains(&u32::from(channel)))
    }
}

fn publishing(flows: &Flows, place: &Place<'_>) -> Option<Publishing> {
    let is_of_group = |flow: &&PublishFlow| {
        place.has(flow.group.as_ref(), flow.client_id.as_ref(), flow.key.channel)
    };
    let of_group: Vec<&PublishFlow> = flows.publishes.iter().filter(is_of_group).collect();
    let group = PublisherGroup::of_run(&of_group, flows.span())?;
    Some(Publishing::from_group(&group))
}

fn reading(flows: &Flows, place: &Place<'_>) -> Option<Reading> {
    let is_of_group =
        |flow: &&ReadFlow| place.has(flow.group.as_ref(), flow.client_id.as_ref(), flow.channel);
    let flows: Vec<&ReadFlow> = flows.reads.iter().filter(is_of_group).collect();
    let group = ReaderGroup::of_run(&flows)?;
    Some(Reading::from_group(&group))
}
