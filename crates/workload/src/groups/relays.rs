//! Relays: consumers that publish a message before they settle one.

use std::collections::BTreeMap;

use rabbitscope_runs::scenario::has_placeholder;

use super::{publishers::Target, sets::Sets};
use crate::observe::{ConfirmMode, PublishFlow, ReadFlow};

/// Share of one key, or one size, above which it stands for all.
const ONE_SHARE: f64 = 0.98;
/// Part of a mean size within which the sizes of both messages are taken for equal.
const SAME_SIZE: f64 = 0.05;

/// The message that a consumer publishes for one that it has read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Forward {
    /// The exchange; empty for the default exchange.
    pub(crate) exchange: String,
    pub(crate) key: String,
    pub(crate) persistent: bool,
    /// Bytes of its body; none if it has that of the message before.
    pub(crate) size: Option<u64>,
    pub(crate) has_confirms: bool,
}

/// All relays, by connection and channel.
#[derive(Debug, Default)]
pub(super) struct Relays(BTreeMap<(u64, u16), Forward>);

impl Relays {
    /// Finds the channels whose only consumer publishes because of its messages, to one target. Each reader comes with
    /// its queue.
    pub(super) fn find<'a>(
        sent: &[&'a PublishFlow],
        reads: impl Iterator<Item = (&'a ReadFlow, &'a str)>,
        sets: &Sets,
    ) -> Self {
        let sent = by_channel(sent.iter().copied(), |flow| (flow.key.connection, flow.key.channel));
        let reads = by_channel(reads, |(flow, _)| (flow.connection, flow.channel));
        let found = reads.into_iter().filter_map(|(channel, reads)| {
            let ([(read, queue)], [sent]) = (&reads[..], &sent.get(&channel)?[..]) else {
                return None;
            };
            let is_relay = !read.is_polling
                && read.settled.acks * 2 > read.settled.total()
                && read.relayed.is_relay(sent.messages);
            let forward = forward(sent, (read, queue), sets).filter(|_| is_relay);
            forward.map(|forward| (channel, forward))
        });
        Self(found.collect())
    }

    pub(super) fn of(&self, read: &ReadFlow) -> Option<&Forward> {
        self.0.get(&(read.connection, read.channel))
    }

    /// Returns whether a flow is that of a relay.
    pub(super) fn publishes(&self, sent: &PublishFlow) -> bool {
        self.0.contains_key(&(sent.key.connection, sent.key.channel))
    }
}

fn by_channel<T>(
    flows: impl Iterator<Item = T>,
    channel: impl Fn(&T) -> (u64, u16),
) -> BTreeMap<(u64, u16), Vec<T>> {
    let mut all: BTreeMap<_, Vec<T>> = BTreeMap::new();
    for flow in flows {
        all.entry(channel(&flow)).or_default().push(flow);
    }
    all
}

/// Returns the message of a relay; none if a scenario cannot express it, such as one that comes back to the relay.
fn forward(sent: &PublishFlow, (read, queue): (&ReadFlow, &str), sets: &Sets) -> Option<Forward> {
    let (key, share) = sent.routing_keys.most_frequent()?;
    let is_expressible = share >= ONE_SHARE
        && !has_placeholder(key)
        && sent.mode != ConfirmMode::Transactions
        && !sent.protocol.is_mqtt()
        && !(sent.is_request || sent.is_reply);
    let exchange = sent.key.exchange.clone();
    let target = if exchange.is_empty() {
        Target::Queues(sets.of(key)?)
    } else {
        Target::Exchange(exchange.clone())
    };
    let is_named = match target {
        Target::Queues(place) => {
            !sets.sets[place].queue.server_named && sets.of(queue) != Some(place)
        }
        Target::Exchange(_) => true,
    };
    (is_expressible && is_named).then(|| Forward {
        exchange,
        key: key.clone(),
        persistent: sent.persistent * 2 > sent.messages,
        size: size(sent, read),
        has_confirms: sent.mode == ConfirmMode::Confirms,
    })
}

fn size(sent: &PublishFlow, read: &ReadFlow) -> Option<u64> {
    let (size, share) = sent.sizes.most_frequent()?;
    if share >= ONE_SHARE {
        return Some(*size);
    }
    let (mean, of_read) = (sent.size_buckets.mean()?, read.sizes.mean()?);
    if (mean - of_read).abs() <= SAME_SIZE * of_read {
        return None;
    }
    // Means of members of a group differ by chance.
    let unit = 10_f64.powf(mean.max(1.0).log10().floor() - 1.0).max(1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    let rounded = ((mean / unit).round() * unit) as u64;
    Some(rounded)
}
