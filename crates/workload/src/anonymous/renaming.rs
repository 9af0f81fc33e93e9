//! Numbers in place of all names.

use std::collections::BTreeMap;

use super::{policies, words::Words};
use crate::{observe::Flows, renaming::rename, topology::Topology};

/// Replaces the names of exchanges, queues, keys, topics, policies and programs by numbers. Returns the number of policies
/// that are left out, because their patterns cannot be read here.
pub fn anonymous(flows: &mut Flows, topology: &mut Topology) -> usize {
    flows.complete(topology);
    topology.connections.clear();
    topology.remove_subscriptions();
    forget_client_ids(flows);
    let mut words = Words::default();
    let mut copy = topology.clone();
    rename(flows, &mut copy, &mut |name| words.count(name));
    let left_out = policies::resolve(flows, topology, &mut words);
    rename(flows, topology, &mut |name| *name = words.renamed(name));
    programs(flows);
    left_out
}

/// Removes the identifiers of clients of MQTT, which are in no scenario.
fn forget_client_ids(flows: &mut Flows) {
    flows.publishes.iter_mut().for_each(|flow| flow.client_id = None);
    flows.reads.iter_mut().for_each(|flow| flow.client_id = None);
}

/// Numbers the programs of clients.
fn programs(flows: &mut Flows) {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let of_publishes = flows.publishes.iter_mut().map(|flow| &mut flow.product);
    for product in of_publishes.chain(flows.reads.iter_mut().map(|flow| &mut flow.product)) {
        if product.is_empty() {
            continue;
        }
        let next = format!("program {}", known.len() + 1);
        let named = core::mem::take(product);
        product.clone_from(known.entry(named).or_insert(next));
    }
}
