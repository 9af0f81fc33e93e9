//! The model of a load: groups, the objects that they use, and everything that was assumed or cannot be expressed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    hosts, missing,
    publishers::{self, PublisherGroup, Target},
    readers::{self, ReaderGroup, Source},
    relays::Relays,
    scaling::Scale,
    sets::Sets,
    subscribers,
    uses::{Uses, quoted},
};
use crate::{
    observe::{Churn, Flows, Protocol, PublishFlow, ReadFlow, Span},
    renaming::replace_placeholders,
    topology::{Exchange, NodeFacts, Objects, Policy, Topology, is_predeclared},
};

/// The model of a load.
#[derive(Debug)]
pub struct Model {
    pub(crate) exchanges: Vec<UsedExchange>,
    pub(crate) sets: Sets,
    pub(crate) policies: Vec<Policy>,
    pub(crate) publishers: Vec<PublisherGroup>,
    pub(crate) readers: Vec<ReaderGroup>,
    pub(crate) responders: Vec<Responders>,
    pub(crate) churn: Churn,
    pub(crate) seconds: f64,
    pub(crate) has_direct_replies: bool,
    pub(crate) connections: u64,
    /// Connections without messages and readers: of AMQP 0-9-1, and of MQTT.
    pub(crate) idle: u64,
    pub(crate) idle_by_mqtt: u64,
    /// Connections with TLS of which no source knows more.
    pub(crate) encrypted: u64,
    pub(crate) assumptions: Vec<String>,
    pub(crate) missing: Vec<String>,
    pub(crate) scale: Scale,
    /// The node; absent if it is unknown.
    pub(crate) node: Option<NodeFacts>,
}

/// An exchange that messages pass.
#[derive(Debug)]
pub(crate) struct UsedExchange {
    pub(crate) name: String,
    pub(crate) exchange: Exchange,
    /// Bindings that lead to it: source and key.
    pub(crate) bindings: Vec<(String, String)>,
}

/// Consumers that answer requests.
#[derive(Debug)]
pub(crate) struct Responders {
    pub(crate) reader: ReaderGroup,
    /// Mean size of their replies in bytes.
    pub(crate) reply_bytes: f64,
}

impl Model {
    /// Returns the number of groups.
    pub fn groups(&self) -> usize {
        self.publishers.len() + self.readers.len() + self.responders.len()
    }

    /// Returns whether groups publish messages.
    pub fn publishes(&self) -> bool {
        let forwards = |group: &ReaderGroup| group.settings.forward.is_some();
        !self.publishers.is_empty() || self.readers.iter().any(forwards)
    }

    /// Notes something that is not in the scenario.
    pub fn leave_out(&mut self, what: String) {
        self.missing.push(what);
    }

    /// Changes the size of the load.
    pub fn scale(&mut self, scale: Scale) {
        self.scale = scale;
        self.publishers.iter_mut().for_each(|group| group.scale(scale));
        let responders = self.responders.iter_mut().map(|responders| &mut responders.reader);
        self.readers.iter_mut().chain(responders).for_each(|group| group.scale(scale));
    }

    /// Puts groups onto the connections of others, and notes connections that are shared in another way.
    fn share_connections(&mut self) {
        let responders: Vec<&ReaderGroup> =
            self.responders.iter().map(|responders| &responders.reader).collect();
        let shared = hosts::find(&mut self.publishers, &mut self.readers, &responders);
        self.missing.extend(missing::shared_connections(shared));
    }

    fn name_groups(&mut self) {
        for (place, group) in self.publishers.iter_mut().enumerate() {
            let kind = if group.is_of_requests() { "requests" } else { "publishers" };
            group.name = format!("{kind}-{}", place + 1);
        }
        for (place, group) in self.readers.iter_mut().enumerate() {
            group.name = format!("consumers-{}", place + 1);
        }
        for (place, group) in self.responders.iter_mut().enumerate() {
            group.reader.name = format!("responders-{}", place + 1);
        }
    }
}

/// Builds the model of flows. `topology` are the known objects, to which those are added that clients declared.
pub fn model(flows: &mut Flows, mut topology: Topology) -> Model {
    topology.add_missing(flows.seen.topology.clone());
    flows.complete(&topology);
    let with_placeholder = replace_placeholders(flows, &mut topology);
    let flows = &*flows;
    let (vhost, others) = main_vhost(flows);
    let is_here = |of: &Option<String>| of.as_ref().is_none_or(|of| *of == vhost);
    let all: Vec<&PublishFlow> =
        flows.publishes.iter().filter(|flow| is_here(&flow.vhost)).collect();
    let is_reader = |flow: &&ReadFlow| !flow.is_of_replies && !flow.is_refused;
    let reads = flows.reads.iter().filter(|flow| is_here(&flow.vhost)).filter(is_reader);
    let (subscribed, reads): (Vec<&ReadFlow>, Vec<&ReadFlow>) =
        reads.partition(|flow| flow.protocol.is_mqtt());
    let (unplaced, reads): (Vec<&ReadFlow>, Vec<&ReadFlow>) =
        reads.into_iter().partition(|flow| flow.protocol.is_link() && flow.queue.is_none());
    topology.remove_subscriptions();
    let (objects, by_headers) = topology.take_vhost(&vhost);
    let (links, policies): (Vec<_>, Vec<_>) =
        objects.policies.iter().cloned().partition(Policy::is_link);
    let (replies, sent): (Vec<_>, Vec<_>) = all.into_iter().partition(|flow| flow.is_reply);
    let uses = Uses::new(objects, &sent, &reads);
    let mut missing: Vec<String> = flows.unknown.clone();
    missing.extend(missing::placeholders(with_placeholder));
    missing.extend(missing::federation(links.len()));
    let sets = Sets::new(&uses, &direct_keys(&sent));
    let queues = uses.read.iter().map(String::as_str);
    let relays = Relays::find(&sent, reads.iter().copied().zip(queues), &sets);
    missing.extend(missing::missing(flows, others));
    missing.extend(missing::of_unknown_queues(&unplaced));
    let sent: Vec<&PublishFlow> = sent.into_iter().filter(|flow| !relays.publishes(flow)).collect();
    missing.extend(plugin_types(&uses).into_iter().chain(headers(&uses, &by_headers)));
    let seconds = flows.seconds();
    let (mut readers, responders) =
        split_readers((&reads, &relays), &uses, &sets, (&sent, &replies));
    readers.extend(subscribers::groups(&subscribed, &mut missing));
    let groups = publisher_groups(&sent, &sets, flows.span(), &mut missing);
    let is_told = !flows.assumed.is_empty() || !flows.unknown.is_empty();
    let mut model = Model {
        exchanges: exchanges(&uses),
        sets,
        policies,
        publishers: groups,
        readers,
        responders,
        churn: flows.churn.clone(),
        seconds,
        has_direct_replies: flows.direct_replies > 0,
        connections: flows.connections,
        idle: flows.idle,
        idle_by_mqtt: flows.idle_by_mqtt(),
        encrypted: if is_told { 0 } else { flows.records.len() as u64 },
        assumptions: flows.assumed.iter().cloned().chain(uses.assumptions).collect(),
        missing,
        scale: Scale::default(),
        node: topology.node,
    };
    model.name_groups();
    model.share_connections();
    model
}

/// Returns the routing keys of messages to the default exchange.
fn direct_keys<'a>(sent: &[&'a PublishFlow]) -> BTreeSet<&'a str> {
    let direct = sent.iter().filter(|flow| flow.key.exchange.is_empty());
    direct.flat_map(|flow| flow.routing_keys.ranked()).map(|(key, _)| key.as_str()).collect()
}

/// Returns the virtual host with the most messages, and the messages of all others.
fn main_vhost(flows: &Flows) -> (String, u64) {
    let mut messages: BTreeMap<&str, u64> = BTreeMap::new();
    let publishes = flows.publishes.iter().map(|flow| (&flow.vhost, flow.messages));
    let reads = flows.reads.iter().map(|flow| (&flow.vhost, flow.deliveries));
    for (vhost, count) in publishes.chain(reads) {
        if let Some(vhost) = vhost {
            *messages.entry(vhost).or_default() += count;
        }
    }
    let most = messages.iter().max_by_key(|(_, count)| **count);
    let main = most.map_or("/", |(vhost, _)| *vhost).to_owned();
    let others = messages.iter().filter(|(vhost, _)| **vhost != main).map(|(_, count)| count).sum();
    (main, others)
}

fn exchanges(uses: &Uses) -> Vec<UsedExchange> {
    let own = uses.exchanges.iter().filter(|name| !is_predeclared(name));
    own.filter_map(|name| {
        let exchange = uses.objects.exchanges.get(name)?.clone();
        let bindings = exchange_bindings(&uses.objects, name, &uses.exchanges);
        Some(UsedExchange { name: name.clone(), exchange, bindings })
    })
    .collect()
}

/// Names the exchanges whose type comes from a plugin.
fn plugin_types(uses: &Uses) -> Option<String> {
    let of_plugins = uses.exchanges.iter().filter(|name| {
        uses.objects.exchanges.get(*name).is_some_and(|exchange| exchange.kind.starts_with("x-"))
    });
    let names: Vec<String> = of_plugins.map(|name| quoted(name)).collect();
    (!names.is_empty()).then(|| {
        format!("types of exchanges that need a plugin in `[broker] plugins`: {}", names.join(", "))
    })
}

/// Names the exchanges that messages pass and that route `by_headers`.
fn headers(uses: &Uses, by_headers: &BTreeSet<String>) -> Option<String> {
    let names: Vec<String> =
        uses.exchanges.intersection(by_headers).map(|name| quoted(name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "routing by headers, whose values are not read; here each message goes to all queues of {}",
            names.join(", ")
        )
    })
}

fn exchange_bindings(
    objects: &Objects,
    name: &str,
    used: &BTreeSet<String>,
) -> Vec<(String, String)> {
    let bindings = objects.bindings.iter().filter(|binding| {
        binding.kind == crate::topology::Destination::Exchange
            && binding.destination == name
            && used.contains(&binding.source)
    });
    bindings.map(|binding| (binding.source.clone(), binding.routing_key.clone())).collect()
}

fn publisher_groups(
    flows: &[&PublishFlow],
    sets: &Sets,
    span: Span,
    missing: &mut Vec<String>,
) -> Vec<PublisherGroup> {
    let mut lost = 0;
    let placed = flows.iter().filter_map(|flow| {
        let target = target(flow, sets);
        lost += if target.is_none() { flow.messages } else { 0 };
        target.map(|target| (publishers::settings(flow, target), *flow))
    });
    let named = |target: &Target| match target {
        Target::Queues(set) => sets.sets[*set].names.count(),
        Target::Exchange(_) => 0,
    };
    let groups = publishers::groups(placed.collect(), span, named);
    if lost > 0 {
        missing.push(format!(
            "{lost} messages to queues of unknown names are left out; publishers by AMQP 1.0 and of streams that began \
             before the capture do not show them"
        ));
    }
    groups
}

fn target(flow: &PublishFlow, sets: &Sets) -> Option<Target> {
    let exchange = &flow.key.exchange;
    if !exchange.is_empty() {
        return Some(Target::Exchange(exchange.clone()));
    }
    let (key, _) = flow.routing_keys.most_frequent()?;
    sets.of(key).map(Target::Queues)
}

/// Groups readers. Consumers on connections that send replies are responders; those of replies belong to requests.
fn split_readers(
    (reads, relays): (&[&ReadFlow], &Relays),
    uses: &Uses,
    sets: &Sets,
    (publishes, replies): (&[&PublishFlow], &[&PublishFlow]),
) -> (Vec<ReaderGroup>, Vec<Responders>) {
    let answering: BTreeSet<u64> = replies.iter().map(|flow| flow.key.connection).collect();
    let requests = publishes.iter().filter(|flow| flow.is_request);
    let asking: BTreeSet<u64> = requests.map(|flow| flow.key.connection).collect();
    let (mut readers, mut responders) = (Vec::new(), Vec::new());
    for (flow, queue) in reads.iter().zip(&uses.read) {
        let Some(set) = sets.of(queue) else { continue };
        let is_of_replies = asking.contains(&flow.connection) && sets.sets[set].queue.server_named;
        // Others than AMQP 0-9-1 cannot name it.
        let is_hidden = flow.protocol == Protocol::Amqp10 && sets.sets[set].queue.server_named;
        if is_of_replies || is_hidden {
            continue;
        }
        let settings = readers::settings(flow, Source::Queues(set));
        let settings = readers::Settings { forward: relays.of(flow).cloned(), ..settings };
        let placed = (settings, *flow, queue.as_str());
        if answering.contains(&flow.connection) {
            responders.push(placed);
        } else {
            readers.push(placed);
        }
    }
    let (bytes, count) = replies.iter().fold((0.0, 0), |(bytes, count), flow| {
        let mean = flow.size_buckets.mean().unwrap_or_default();
        (bytes + mean * flow.messages as f64, count + flow.messages)
    });
    let reply_bytes = bytes / f64::from(u32::try_from(count.max(1)).unwrap_or(u32::MAX));
    let named = |source: &Source| match source {
        Source::Queues(set) => sets.sets[*set].names.count(),
        Source::Topics { .. } => 0,
    };
    let responders = readers::groups(responders, named).into_iter();
    let responders = responders.map(|reader| Responders { reader, reply_bytes }).collect();
    (readers::groups(readers, named), responders)
}
