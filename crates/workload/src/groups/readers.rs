//! Flows of deliveries ─► groups of consumers and of programs that poll.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    publishers::{joined, most_channels},
    relays::Forward,
    split::{self, Member},
};
use crate::{
    figures::{Buckets, Values},
    observe::{Overtaking, Prefetch, Protocol, ReadBlock, ReadFlow, Settled, StreamReader},
};

/// Processing time in nanoseconds below which a consumer is as fast as its library.
const PROCESSING_MIN: f64 = 1e6;
/// Ratio of the quartiles of times that are alike.
const EVEN: f64 = 1.5;
/// Ratio of p90 to p10 from which on one time does not stand for all.
const SPREAD: f64 = 1.25;
/// Ratio of p99 to p50 from which on rare long times count. Below, they may be stalls of the clients' machine.
const TAIL: f64 = 4.0;
/// Number of measured times from which on their distribution is known.
const SPREAD_MIN: u64 = 100;

/// The settlement of most messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Settling {
    /// Acknowledgements.
    #[default]
    Ack,
    /// Refusals; messages go back into the queue.
    Requeue,
    /// Refusals; messages are dropped or dead-lettered.
    Discard,
    /// The broker expects none.
    Never,
}

/// The place that messages come from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Queues of the set with this number.
    Queues(usize),
    /// Topics that fit these filters of MQTT. They are assumed if they are only those of deliveries.
    Topics { filters: Vec<String>, is_assumed: bool },
}

/// Settings that readers of a group share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Settings {
    pub(crate) protocol: Protocol,
    pub(crate) stream: StreamReader,
    pub(crate) source: Source,
    pub(crate) is_polling: bool,
    pub(crate) exclusive: bool,
    pub(crate) priority: Option<i64>,
    pub(crate) prefetch: Prefetch,
    pub(crate) settling: Settling,
    /// The message that a reader publishes before it settles one; none without.
    pub(crate) forward: Option<Forward>,
    pub(crate) product: String,
}

/// Processing times in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Processing {
    /// Number of measured messages or batches.
    pub(crate) measured: u64,
    pub(crate) p10: f64,
    pub(crate) p25: f64,
    pub(crate) p50: f64,
    pub(crate) p75: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    /// Mean time by which the consumer gets ahead with each message.
    pub(crate) mean: f64,
    /// Times with their shares, in ascending order.
    pub(crate) shares: Vec<(f64, f64)>,
    /// Messages that a consumer processes at the same time.
    pub(crate) concurrency: usize,
}

/// Readers that behave alike.
#[derive(Clone, Debug)]
pub(crate) struct ReaderGroup {
    /// Name in the scenario, given when all groups are known.
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) count: usize,
    pub(crate) connections: usize,
    /// Numbers of its observed connections.
    pub(crate) on: BTreeSet<u64>,
    /// The group whose connections its members use; none if it has its own.
    pub(crate) host: Option<String>,
    pub(crate) channels: usize,
    /// Members and connections before scaling.
    pub(crate) observed: (usize, usize),
    /// Number of different queues.
    pub(crate) queues: BTreeSet<String>,
    pub(crate) deliveries: u64,
    /// Deliveries a second of each reader.
    pub(crate) rate: f64,
    pub(crate) redelivered_share: f64,
    /// Shares of acknowledged, requeued and dropped messages among the settled ones.
    pub(crate) settled_shares: [f64; 3],
    /// Share of the settled messages right before which one was published.
    pub(crate) followed_share: f64,
    /// Messages settled at once: the most frequent number with its share, and the mean.
    pub(crate) batch: Option<(u64, f64, f64)>,
    pub(crate) most_unsettled: u64,
    /// None if nothing was settled.
    pub(crate) processing: Option<Processing>,
    /// Median time from an answer to the next question in nanoseconds, and the share of questions that found nothing.
    pub(crate) polling: Option<(f64, f64)>,
    pub(crate) gets: u64,
    /// Number of times that readers of streams stored their offsets.
    pub(crate) stored_offsets: u64,
    /// Figures by block of time.
    pub(crate) blocks: Vec<ReadBlock>,
}

/// Returns the settings of a flow.
pub(super) fn settings(flow: &ReadFlow, source: Source) -> Settings {
    let settled = flow.settled;
    let settling = match flow.no_ack {
        Some(true) => Settling::Never,
        _ if settled.total() == 0 && flow.no_ack.is_none() && flow.deliveries > 0 => {
            Settling::Never
        }
        _ if settled.requeues * 2 > settled.total() => Settling::Requeue,
        _ if settled.discards * 2 > settled.total() => Settling::Discard,
        _ => Settling::Ack,
    };
    Settings {
        protocol: flow.protocol,
        stream: flow.stream.clone(),
        source,
        is_polling: flow.is_polling,
        exclusive: flow.exclusive,
        priority: flow.priority,
        prefetch: flow.prefetch,
        settling,
        forward: None,
        product: flow.product.clone(),
    }
}

/// Groups flows with their settings and queues: first by settings, then by processing time. `named` is the number of queues
/// that a source names: readers with one queue each need a member for each of them.
pub(super) fn groups(
    flows: Vec<(Settings, &ReadFlow, &str)>,
    named: impl Fn(&Source) -> u64,
) -> Vec<ReaderGroup> {
    let mut alike: BTreeMap<Settings, Vec<(&ReadFlow, &str)>> = BTreeMap::new();
    for (settings, flow, queue) in flows {
        alike.entry(settings).or_default().push((flow, queue));
    }
    let mut groups = Vec::new();
    for (settings, flows) in alike {
        let members = flows.iter().enumerate().map(|(place, (flow, _))| Member {
            place,
            figure: pace(flow).max(PROCESSING_MIN).log2(),
            messages: flow.raw.total().max(flow.gets),
        });
        for part in split::split(members.collect()) {
            let flows: Vec<_> = part.into_iter().map(|place| flows[place]).collect();
            let needed = if settings.protocol.is_link() { named(&settings.source) } else { 0 };
            for flows in split::by_queue(flows, needed, |(_, queue)| *queue) {
                groups.push(ReaderGroup::new(settings.clone(), &flows));
            }
        }
    }
    groups
}

/// Returns the time that tells readers apart: of processing, or between questions.
fn pace(flow: &ReadFlow) -> f64 {
    let times = if flow.is_polling { &flow.poll_intervals } else { &flow.service };
    times.quantile(0.5).unwrap_or_default()
}

impl ReaderGroup {
    /// Pools the flows of a group of a run; none without flows.
    pub(crate) fn of_run(flows: &[&ReadFlow]) -> Option<Self> {
        let settings = settings(flows.first()?, Source::Queues(0));
        let flows: Vec<_> = flows.iter().map(|flow| (*flow, "")).collect();
        Some(Self::new(settings, &flows))
    }

    fn new(settings: Settings, flows: &[(&ReadFlow, &str)]) -> Self {
        let each = || flows.iter().map(|(flow, _)| *flow);
        let mut per_settlement = Values::default();
        each().for_each(|flow| per_settlement.merge(&flow.per_settlement));
        let settled = each().map(|flow| flow.settled).reduce(Settled::plus);
        let settled = settled.unwrap_or_default();
        let share = |count: u64| count as f64 / settled.total().max(1) as f64;
        let pairs: u64 = each().map(|flow| flow.relayed.pairs).sum();
        let deliveries: u64 = each().map(|flow| flow.deliveries).sum();
        let redelivered: u64 = each().map(|flow| flow.redelivered).sum();
        let methods = per_settlement.total().max(1) as f64;
        let gets: u64 = each().map(|flow| flow.gets).sum();
        let empty: u64 = each().map(|flow| flow.empty).sum();
        let intervals = pooled(each().map(|flow| &flow.poll_intervals));
        let rates = each().map(|flow| {
            let active = flow.last.saturating_sub(flow.first) as f64 / 1e9;
            if active > 0.0 { flow.deliveries.saturating_sub(1) as f64 / active } else { 0.0 }
        });
        let connections: BTreeSet<u64> = each().map(|flow| flow.connection).collect();
        Self {
            name: String::new(),
            settings,
            count: flows.len(),
            connections: connections.len(),
            host: None,
            observed: (flows.len(), connections.len()),
            on: connections,
            channels: most_channels(each().map(|flow| (flow.connection, flow.channel))),
            queues: flows.iter().map(|(_, queue)| (*queue).to_owned()).collect(),
            deliveries,
            rate: rates.sum::<f64>() / flows.len().max(1) as f64,
            redelivered_share: redelivered as f64 / deliveries.max(1) as f64,
            followed_share: share(pairs),
            settled_shares: [settled.acks, settled.requeues, settled.discards].map(share),
            batch: per_settlement.most_frequent().map(|(messages, frequent)| {
                (*messages, frequent, settled.total() as f64 / methods)
            }),
            most_unsettled: each().map(|flow| flow.most_unsettled).max().unwrap_or_default(),
            processing: processing(flows),
            polling: intervals
                .quantile(0.5)
                .map(|median| (median, empty as f64 / gets.max(1) as f64)),
            gets,
            stored_offsets: each().map(|flow| flow.stored_offsets).sum(),
            blocks: joined(each().map(|flow| flow.blocks.as_slice())),
        }
    }
}

fn pooled<'a>(all: impl Iterator<Item = &'a Buckets>) -> Buckets {
    let mut pooled = Buckets::default();
    all.for_each(|buckets| pooled.merge(buckets));
    pooled
}

fn processing(flows: &[(&ReadFlow, &str)]) -> Option<Processing> {
    let mut overtaking = Overtaking::default();
    for (flow, _) in flows {
        overtaking.merge(&flow.overtaking);
    }
    let concurrency = overtaking.concurrency();
    // Of a consumer with few messages, the workers do not show. Hardly any of its messages wait.
    let times = flows.iter().map(|(flow, _)| match flow.overtaking.concurrency() {
        1 if concurrency > 1 => &flow.raw,
        _ => &flow.service,
    });
    let times = &pooled(times);
    Some(Processing {
        measured: times.total(),
        p10: times.quantile(0.1)?,
        p25: times.quantile(0.25)?,
        p50: times.quantile(0.5)?,
        p75: times.quantile(0.75)?,
        p90: times.quantile(0.9)?,
        p99: times.quantile(0.99)?,
        mean: times.mean()?,
        shares: shares(times)?,
        concurrency,
    })
}

/// Returns the middles of bands of quantiles, with their shares. The last one makes up for the mean.
fn shares(times: &Buckets) -> Option<Vec<(f64, f64)>> {
    let bands = [(18, 0.05), (9, 0.01), (2, 0.005)];
    let widths = bands.into_iter().flat_map(|(count, width)| std::iter::repeat_n(width, count));
    let mut shares = Vec::new();
    let mut end = 0.0;
    for width in widths {
        shares.push((times.quantile(end + width / 2.0)?, width));
        end += width;
    }
    let (last, width) = shares.pop()?;
    let sum: f64 = shares.iter().map(|(time, width)| time * width).sum();
    let rest = (times.mean()? - sum) / width;
    shares.push((last.max(rest.min(times.quantile(1.0)?)), width));
    Some(shares)
}

impl Processing {
    /// Returns whether one time stands for all: the middle half of them are alike.
    pub(crate) fn is_even(&self) -> bool {
        self.p75 < EVEN * self.p25
    }

    /// Returns whether the times differ so much that their distribution counts, and were measured often enough.
    pub(crate) fn is_spread(&self) -> bool {
        let differs = self.p90 > SPREAD * self.p10 || self.p99 > TAIL * self.p50;
        differs && self.measured >= SPREAD_MIN
    }

    /// Returns the processing time in nanoseconds; none if the consumers are as fast as their library.
    pub(crate) fn nanos(&self) -> Option<f64> {
        let nanos = if self.is_even() { self.p50 } else { self.mean };
        (self.p50 >= PROCESSING_MIN).then_some(nanos)
    }
}
