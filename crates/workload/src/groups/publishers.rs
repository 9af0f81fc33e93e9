//! Flows of publishes ─► groups of publishers.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    loops::{Arrival, Loop, Window, most},
    names::Names,
    phases,
    sizes::Sizes,
    split::{self, Member},
};
use crate::{
    figures::{Buckets, CountsOverTime, GapSamples, Kinds, Values},
    observe::{ConfirmMode, Join, Protocol, PublishBlock, PublishFlow, Span, StreamPublisher},
};

/// Number of mean gaps before the first and behind the last message that are not taken for inactivity.
const EDGE_GAPS: f64 = 4.0;

/// Number of gaps from which on a timer is recognized, and the ratio of long to short ones below which they are alike.
const EVEN_GAPS: u64 = 5;
const EVEN: f64 = 1.2;

/// Part of the observed time at its end without a message, by which a publisher has stopped.
const STOPPED_PART: f64 = 0.3;

/// The place that messages go to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// Queues of the set with this number, by the default exchange.
    Queues(usize),
    /// An exchange.
    Exchange(String),
}

/// Settings that publishers of a group share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "flags of messages")]
pub(crate) struct Settings {
    pub(crate) protocol: Protocol,
    pub(crate) stream: StreamPublisher,
    pub(crate) target: Target,
    pub(crate) mode: ConfirmMode,
    pub(crate) is_request: bool,
    /// True if most messages name a queue for replies, and nobody answers.
    pub(crate) is_unanswered: bool,
    pub(crate) persistent: bool,
    pub(crate) mandatory: bool,
    pub(crate) priority: Option<u8>,
    pub(crate) expiration: Option<u64>,
    pub(crate) headers: Option<(u16, u32)>,
    pub(crate) product: String,
}

/// Routing keys of a group, or topics of MQTT.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// The keys with their shares, most frequent first.
    pub(crate) shares: Vec<(String, f64)>,
    /// True if there are more.
    pub(crate) is_cut: bool,
    /// True if most publishers use most of the keys.
    pub(crate) is_shared: bool,
}

/// Publishers that behave alike.
#[derive(Clone, Debug)]
pub(crate) struct PublisherGroup {
    /// Name in the scenario, given when all groups are known.
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) count: usize,
    pub(crate) connections: usize,
    /// Numbers of its observed connections.
    pub(crate) on: BTreeSet<u64>,
    /// The group whose connections its members use; none if it has its own.
    pub(crate) host: Option<String>,
    /// Most channels of one connection.
    pub(crate) channels: usize,
    pub(crate) messages: u64,
    /// Messages per second of each publisher.
    pub(crate) rate: f64,
    /// The upper limit of a closed loop's rate, after scaling.
    pub(crate) rate_limit: Option<f64>,
    /// Members, connections and rate before scaling.
    pub(crate) observed: (usize, usize, f64),
    /// Slowest and fastest publisher, as part of that.
    pub(crate) spread: (f64, f64),
    pub(crate) looped: Loop,
    pub(crate) arrival: Arrival,
    /// True if the timers of the members take turns.
    pub(crate) takes_turns: bool,
    pub(crate) window: Window,
    pub(crate) sizes: Sizes,
    pub(crate) keys: Keys,
    /// Most messages of an entry of a stream; 0 if each has its own.
    pub(crate) most_of_entry: u16,
    pub(crate) kinds: Kinds,
    pub(crate) persistent_share: f64,
    pub(crate) frame_by_frame: f64,
    /// Messages between commits, for transactions.
    pub(crate) per_commit: f64,
    /// Median bytes of properties that are texts.
    pub(crate) text_bytes: f64,
    /// Sizes with their messages; none if there are too many different ones.
    pub(crate) exact_sizes: Option<BTreeMap<u64, u64>>,
    /// Figures by block of time.
    pub(crate) blocks: Vec<PublishBlock>,
    /// Messages of each publisher, if all of them stopped long before the end.
    pub(crate) stops_after: Option<u64>,
    /// The longest part of the observed time in which a publisher was active.
    pub(crate) active_share: f64,
}

/// Returns the settings of a flow.
pub(super) fn settings(flow: &PublishFlow, target: Target) -> Settings {
    let most = |count: u64| count * 2 > flow.messages;
    let usual = flow.kinds.usual();
    Settings {
        protocol: flow.protocol,
        stream: flow.stream,
        target,
        mode: flow.mode,
        is_request: flow.is_request,
        is_unanswered: most(flow.with_reply_to) && !flow.is_request,
        persistent: most(flow.persistent),
        mandatory: most(flow.mandatory),
        priority: usual.priority,
        expiration: usual.expiration,
        headers: usual.headers,
        product: flow.product.clone(),
    }
}

/// Returns whether nearly all gaps are alike.
fn has_even_gaps(flow: &PublishFlow) -> bool {
    let [low, high] = [0.1, 0.9].map(|share| flow.gaps.quantile(share).unwrap_or_default());
    flow.gaps.total() >= EVEN_GAPS && high < EVEN * low
}

/// Returns messages of a flow, and the seconds for them: the whole time, or from the first to the last message of one
/// that began later or ended earlier than its gaps explain. Gaps of a timer are exact, however few there are.
fn messages_in_time(flow: &PublishFlow, seconds: f64) -> (f64, f64) {
    let active = flow.last.saturating_sub(flow.first) as f64 / 1e9;
    let gaps = flow.messages.saturating_sub(1) as f64;
    if has_even_gaps(flow) && active > 0.0 {
        return (gaps, active);
    }
    let is_explained = seconds - active <= EDGE_GAPS * active / gaps.max(1.0);
    if flow.messages < split::FEW || active <= 0.0 || is_explained {
        return (flow.messages as f64, seconds.max(1e-3));
    }
    (gaps, active)
}

/// Returns the messages of each flow, if all stopped before the last part of the observed time.
fn stops_after(flows: &[&PublishFlow], span: Span) -> Option<u64> {
    let has_stopped = |flow: &&PublishFlow| {
        let silence = span.end.saturating_sub(flow.last) as f64 / 1e9;
        let gap = flow.last.saturating_sub(flow.first) as f64 / 1e9 / flow.messages.max(1) as f64;
        flow.messages >= split::FEW && silence > (STOPPED_PART * span.seconds).max(EDGE_GAPS * gap)
    };
    let messages: u64 = flows.iter().map(|flow| flow.messages).sum();
    let mean = (messages as f64 / flows.len().max(1) as f64).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    flows.iter().all(has_stopped).then_some(mean as u64)
}

/// Returns the messages per second of a flow.
fn rate(flow: &PublishFlow, seconds: f64) -> f64 {
    let (messages, time) = messages_in_time(flow, seconds);
    messages / time
}

/// Groups flows with their settings: first by these, then by rate and by size. `named` is the number of queues that a target
/// names: publishers with one queue each need a member for each of them.
pub(super) fn groups(
    flows: Vec<(Settings, &PublishFlow)>,
    span: Span,
    named: impl Fn(&Target) -> u64,
) -> Vec<PublisherGroup> {
    let mut alike: BTreeMap<Settings, Vec<&PublishFlow>> = BTreeMap::new();
    for (settings, flow) in flows {
        alike.entry(settings).or_default().push(flow);
    }
    let mut groups = Vec::new();
    for (settings, flows) in alike {
        let by_rate = parts(&flows, |flow| rate(flow, span.seconds).log2());
        for flows in by_rate {
            for flows in parts(&flows, |flow| {
                (flow.size_buckets.quantile(0.5).unwrap_or_default() + 1.0).log2()
            }) {
                let queue = |flow: &&PublishFlow| {
                    flow.routing_keys.most_frequent().map(|(key, _)| key.clone())
                };
                let needed = if settings.protocol.is_link() { named(&settings.target) } else { 0 };
                for flows in split::by_queue(flows, needed, queue) {
                    groups.push(PublisherGroup::new(settings.clone(), &flows, span));
                }
            }
        }
    }
    groups
}

fn parts<'a>(
    flows: &[&'a PublishFlow],
    figure: impl Fn(&PublishFlow) -> f64,
) -> Vec<Vec<&'a PublishFlow>> {
    let members = flows.iter().enumerate().map(|(place, flow)| Member {
        place,
        figure: figure(flow),
        messages: flow.messages,
    });
    let parts = split::split(members.collect());
    parts.into_iter().map(|part| part.into_iter().map(|place| flows[place]).collect()).collect()
}

impl PublisherGroup {
    fn new(settings: Settings, flows: &[&PublishFlow], span: Span) -> Self {
        let seconds = span.seconds;
        let pooled = Pooled::new(flows);
        let messages: u64 = flows.iter().map(|flow| flow.messages).sum();
        let of_all = |count: u64| count as f64 / messages.max(1) as f64;
        let sum =
            |count: fn(&PublishFlow) -> u64| of_all(flows.iter().map(|flow| count(flow)).sum());
        let rates: Vec<f64> = flows.iter().map(|flow| rate(flow, seconds)).collect();
        let (sent, time) = flows
            .iter()
            .map(|flow| messages_in_time(flow, seconds))
            .fold((0.0, 0.0), |(sent, time), (more, longer)| (sent + more, time + longer));
        let mean = sent / time;
        let extreme = |pick: fn(f64, f64) -> f64| rates.iter().copied().fold(mean, pick) / mean;
        let arrival = pooled.arrival(flows, messages);
        let looped = Loop::new((&pooled.samples, &pooled.gaps), &pooled.unconfirmed, arrival);
        let active = flows.iter().map(|flow| flow.last.saturating_sub(flow.first) as f64 / 1e9);
        let commits: u64 = flows.iter().map(|flow| flow.commits).sum();
        let connections: BTreeSet<u64> = flows.iter().map(|flow| flow.key.connection).collect();
        Self {
            name: String::new(),
            count: flows.len(),
            connections: connections.len(),
            host: None,
            observed: (flows.len(), connections.len(), mean),
            on: connections,
            channels: most_channels(
                flows.iter().map(|flow| (flow.key.connection, flow.key.channel)),
            ),
            messages,
            rate: mean,
            rate_limit: None,
            spread: (extreme(f64::min), extreme(f64::max)),
            looped,
            arrival,
            takes_turns: arrival == Arrival::Constant && phases::take_turns(flows),
            window: Window::new(
                most(&pooled.unconfirmed),
                &looped,
                flows.iter().map(|flow| flow.unconfirmed_at_least).max().unwrap_or_default(),
            ),
            sizes: Sizes::new(&pooled.sizes, &pooled.size_buckets),
            keys: pooled.keys(flows),
            most_of_entry: flows.iter().map(|flow| flow.most_of_entry).max().unwrap_or_default(),
            kinds: pooled.kinds.clone(),
            persistent_share: sum(|flow| flow.persistent),
            frame_by_frame: sum(|flow| flow.frame_by_frame),
            per_commit: if commits > 0 { messages as f64 / commits as f64 } else { 0.0 },
            text_bytes: pooled.text_bytes.quantile(0.5).unwrap_or_default(),
            exact_sizes: pooled.exact_sizes(),
            blocks: joined(flows.iter().map(|flow| flow.blocks.as_slice())),
            stops_after: stops_after(flows, span),
            active_share: active.fold(0.0, f64::max) / seconds.max(1e-3),
            settings,
        }
    }
}

impl PublisherGroup {
    /// Pools the flows of a group of a run; none without flows.
    pub(crate) fn of_run(flows: &[&PublishFlow], span: Span) -> Option<Self> {
        let target = Target::Exchange(String::new());
        let settings = settings(flows.first()?, target);
        Some(Self::new(settings, flows, span))
    }

    /// Returns whether the group asks for replies, and its scenario can say so.
    pub(crate) const fn is_of_requests(&self) -> bool {
        self.settings.is_request && matches!(self.settings.target, Target::Queues(_))
    }
}

/// Joins the blocks of flows.
pub(super) fn joined<'a, T: Join + Clone + 'a>(flows: impl Iterator<Item = &'a [T]>) -> Vec<T> {
    let mut joined: Vec<T> = Vec::new();
    for blocks in flows {
        if joined.len() < blocks.len() {
            joined.resize_with(blocks.len(), T::default);
        }
        for (all, block) in joined.iter_mut().zip(blocks) {
            all.join(block.clone());
        }
    }
    joined
}

/// Returns the most channels that one connection has.
pub(super) fn most_channels(places: impl Iterator<Item = (u64, u16)>) -> usize {
    let mut channels: BTreeMap<u64, BTreeSet<u16>> = BTreeMap::new();
    for (connection, channel) in places {
        channels.entry(connection).or_default().insert(channel);
    }
    channels.values().map(BTreeSet::len).max().unwrap_or(1)
}

/// Figures of all flows of a group.
#[derive(Default)]
struct Pooled {
    routing_keys: Values<String>,
    sizes: Values<u64>,
    size_buckets: Buckets,
    gaps: Buckets,
    samples: GapSamples,
    unconfirmed: Values<u32>,
    kinds: Kinds,
    text_bytes: Buckets,
}

impl Pooled {
    fn new(flows: &[&PublishFlow]) -> Self {
        let mut pooled = Self::default();
        for flow in flows {
            pooled.routing_keys.merge(&flow.routing_keys);
            pooled.sizes.merge(&flow.sizes);
            pooled.size_buckets.merge(&flow.size_buckets);
            pooled.gaps.merge(&flow.gaps);
            pooled.samples.merge(&flow.samples);
            pooled.unconfirmed.merge(&flow.unconfirmed);
            pooled.kinds.merge(&flow.kinds);
            pooled.text_bytes.merge(&flow.text_bytes);
        }
        pooled
    }

    /// Returns sizes with their messages; none if there are too many different ones.
    fn exact_sizes(&self) -> Option<BTreeMap<u64, u64>> {
        let ranked = self.sizes.ranked().into_iter().map(|(size, count)| (*size, count));
        self.sizes.is_complete().then(|| ranked.collect())
    }

    /// Returns the messages among which bursts are looked for: all, if there are enough of one flow.
    fn burst_messages(&self, flows: &[&PublishFlow], longest: u64) -> u64 {
        if longest < 30 { longest } else { self.gaps.total() + flows.len() as u64 }
    }

    fn arrival(&self, flows: &[&PublishFlow], messages: u64) -> Arrival {
        if self.gaps.total() == 0 && messages > flows.len() as u64 {
            return Arrival::Unseen;
        }
        let counts: Vec<&CountsOverTime> = flows.iter().map(|flow| &flow.counts).collect();
        let longest = flows.iter().map(|flow| flow.messages).max().unwrap_or_default();
        Arrival::new(&self.gaps, &counts, self.burst_messages(flows, longest))
    }

    fn keys(&self, flows: &[&PublishFlow]) -> Keys {
        let total = self.routing_keys.total().max(1) as f64;
        let is_cut = flows.iter().any(|flow| !flow.routing_keys.is_complete());
        let of_each: Vec<_> = flows.iter().flat_map(|flow| flow.routing_keys.ranked()).collect();
        // Clients with a key each may have more keys together than one of them could.
        let ranked = if is_cut { self.routing_keys.ranked() } else { summed(&of_each) };
        let share = |(key, count): (&String, u64)| (key.clone(), count as f64 / total);
        let shares: Vec<_> = ranked.into_iter().map(share).collect();
        let is_shared = of_each.len() * 2 > shares.len() * flows.len();
        Keys { shares, is_cut, is_shared }
    }
}

/// Adds up the messages of each key. Returns the most frequent key first.
fn summed<'a>(of_each: &[(&'a String, u64)]) -> Vec<(&'a String, u64)> {
    let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
    for (key, count) in of_each {
        *sums.entry(key).or_default() += count;
    }
    let mut ranked: Vec<_> = sums.into_iter().collect();
    ranked.sort_by_key(|(_, count)| Reverse(*count));
    ranked
}

impl Keys {
    /// Returns the keys in their shortest form; none without keys.
    pub(crate) fn names(&self) -> Option<Names> {
        let names: Vec<String> = self.shares.iter().map(|(key, _)| key.clone()).collect();
        (!names.is_empty()).then(|| Names::new(names))
    }
}
