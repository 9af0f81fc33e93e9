//! Flows of a run ─► measurements of the groups of its scenario, by the same code as those of the source. The load of a
//! scenario names its groups, so that no flow has to be recognized by its behaviour.

use std::collections::BTreeMap;

use super::measurements::{Group, Measurements, Publishing, Reading};
use crate::{
    groups::{PublisherGroup, ReaderGroup},
    observe::{Flows, PublishFlow, ReadFlow},
};

impl Measurements {
    /// Measures the groups of a source in the flows of a run.
    pub fn from_run(flows: &Flows, source: &Self) -> Self {
        let mut groups = BTreeMap::new();
        for (name, kind) in &source.groups {
            let group = match kind {
                Group::Publishers(_) => publishing(flows, name).map(Group::Publishers),
                Group::Readers(_) => reading(flows, name).map(Group::Readers),
            };
            groups.extend(group.map(|group| (name.clone(), group)));
        }
        Self { groups, ..Self::of_flows(flows) }
    }
}

fn publishing(flows: &Flows, name: &str) -> Option<Publishing> {
    let is_of_group = |flow: &&PublishFlow| flow.group.as_deref() == Some(name);
    let of_group: Vec<&PublishFlow> = flows.publishes.iter().filter(is_of_group).collect();
    let group = PublisherGroup::of_run(&of_group, flows.span())?;
    Some(Publishing::from_group(&group))
}

fn reading(flows: &Flows, name: &str) -> Option<Reading> {
    let is_of_group = |flow: &&ReadFlow| flow.group.as_deref() == Some(name);
    let flows: Vec<&ReadFlow> = flows.reads.iter().filter(is_of_group).collect();
    let group = ReaderGroup::of_run(&flows)?;
    Some(Reading::from_group(&group))
}
