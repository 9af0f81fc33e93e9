//! Flows of a run ─► measurements of the groups of its scenario, by the same code as those of the source. The load of a
//! scenario names its groups, so that no flow has to be recognized by its behaviour: in the properties of clients of AMQP
//! 0-9-1, and by the number of a connection in the identifiers of clients of MQTT.

use std::collections::BTreeMap;

use super::measurements::{Group, Measurements, Publishing, Reading};
use crate::{
    groups::{PublisherGroup, ReaderGroup},
    observe::{Flows, PublishFlow, ReadFlow},
};

impl Measurements {
    /// Measures the groups of a source in the flows of a run. `connections` are the groups of its connections, by number.
    pub fn from_run(flows: &Flows, source: &Self, connections: &[&str]) -> Self {
        let mut groups = BTreeMap::new();
        for (name, kind) in &source.groups {
            let group = match kind {
                Group::Publishers(_) => publishing(flows, name, connections).map(Group::Publishers),
                Group::Readers(_) => reading(flows, name, connections).map(Group::Readers),
            };
            groups.extend(group.map(|group| (name.clone(), group)));
        }
        Self { groups, ..Self::of_flows(flows) }
    }
}

fn publishing(flows: &Flows, name: &str, connections: &[&str]) -> Option<Publishing> {
    let is_of_group = |flow: &&PublishFlow| {
        group(flow.group.as_ref(), flow.client_id.as_ref(), connections) == Some(name)
    };
    let of_group: Vec<&PublishFlow> = flows.publishes.iter().filter(is_of_group).collect();
    let group = PublisherGroup::of_run(&of_group, flows.span())?;
    Some(Publishing::from_group(&group))
}

fn reading(flows: &Flows, name: &str, connections: &[&str]) -> Option<Reading> {
    let is_of_group = |flow: &&ReadFlow| {
        group(flow.group.as_ref(), flow.client_id.as_ref(), connections) == Some(name)
    };
    let flows: Vec<&ReadFlow> = flows.reads.iter().filter(is_of_group).collect();
    let group = ReaderGroup::of_run(&flows)?;
    Some(Reading::from_group(&group))
}

/// Returns the group of a flow, by its name or by the number in the client's identifier: `rabbitscope-RUN-NUMBER`.
fn group<'a>(
    name: Option<&'a String>,
    client_id: Option<&String>,
    connections: &[&'a str],
) -> Option<&'a str> {
    if let Some(name) = name {
        return Some(name);
    }
    let (_, number) = client_id?.strip_prefix("rabbitscope-")?.rsplit_once('-')?;
    connections.get(number.parse::<usize>().ok()?).copied()
}
