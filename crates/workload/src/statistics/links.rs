//! Clients of AMQP 1.0 and of streams that the node knows, beside those whose packets were read.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    observe::Flows,
    topology::{ClientProtocol, Consumer, Topology, canonical},
};

/// Returns the number of readers of AMQP 1.0 and of streams by client and queue, of which no table tells the channel.
pub(super) fn shown_links(flows: &Flows) -> BTreeMap<(SocketAddr, Option<&str>), u64> {
    let mut shown = BTreeMap::new();
    for flow in flows.reads.iter().filter(|flow| flow.protocol.is_link()) {
        if let Some(client) = flow.client.map(canonical) {
            *shown.entry((client, flow.queue.as_deref())).or_default() += 1;
        }
    }
    shown
}

/// Names the clients of AMQP 1.0 and of streams that the node knows, and whose packets were not read.
pub(super) fn unread_links(flows: &Flows, topology: &Topology) -> Option<String> {
    let is_link = |of: &Consumer| of.protocol != ClientProtocol::Amqp091;
    let consumers = topology.consumers.iter().filter(|(_, of)| is_link(of));
    let consumers = consumers.map(|(place, _)| place.client);
    let publishers = topology.publishers.keys().map(|(client, _)| *client);
    let links = topology.links.keys().map(|(client, ..)| *client);
    let known: BTreeSet<SocketAddr> = consumers.chain(publishers).chain(links).collect();
    let unread = known.iter().filter(|client| !flows.read_clients.contains(client)).count();
    (unread > 0).then(|| {
        format!(
            "messages of {unread} clients of AMQP 1.0 and of streams: their packets were not read; of these clients, the \
             consumers remain"
        )
    })
}

/// Takes one of a number. Returns whether there was one.
pub(super) fn take_one(left: &mut u64) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}
