//! A flow of publishes: those of one channel to one exchange, of a client of MQTT with one quality of service, or of a link to
//! one queue or exchange.

use core::net::SocketAddr;

use rabbitscope_runs::Random;
use rabbitscope_wire::activity::{Event, Headers, Joined, Published};

use super::{
    answers::Answers,
    blocks::{Blocks, PublishBlock},
    links::StreamPublisher,
    mqtt::Protocol,
};
use crate::figures::{Buckets, CountsOverTime, GapSample, GapSamples, Kind, Kinds, Values};

/// The broker's promise to the publisher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ConfirmMode {
    /// None.
    #[default]
    Off,
    /// Publisher confirms.
    Confirms,
    /// Transactions.
    Transactions,
}

/// Identity of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PublishKey {
    pub(crate) connection: u64,
    pub(crate) channel: u16,
    pub(crate) exchange: String,
}

/// Number of messages of the start, when clients are late.
pub(crate) const STARTING: u64 = 9;

/// A flow of publishes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublishFlow {
    /// The group in the scenario, for clients that are this program.
    pub(crate) group: Option<String>,
    pub(crate) key: PublishKey,
    /// Address of the client.
    pub(crate) client: Option<SocketAddr>,
    pub(crate) vhost: Option<String>,
    pub(crate) product: String,
    pub(crate) protocol: Protocol,
    /// The client id of MQTT, if it is known.
    pub(crate) client_id: Option<String>,
    pub(crate) stream: StreamPublisher,
    /// The place of a link of AMQP 1.0 whose begin was not seen.
    pub(crate) joined: Option<Joined>,
    /// Most messages of an entry of a stream; 0 if each has its own.
    pub(crate) most_of_entry: u16,
    pub(crate) mode: ConfirmMode,
    pub(crate) messages: u64,
    /// Times of the first and the last publish, in nanoseconds.
    pub(crate) first: u64,
    /// Time of the first publish behind the start, in nanoseconds; absent if there were none behind it.
    pub(crate) started: Option<u64>,
    pub(crate) last: u64,
    /// Routing keys, topics of MQTT, or streams. Those of MQTT and of links that are unknown are left out.
    pub(crate) routing_keys: Values<String>,
    pub(crate) sizes: Values<u64>,
    pub(crate) size_buckets: Buckets,
    pub(crate) persistent: u64,
    pub(crate) mandatory: u64,
    pub(crate) with_reply_to: u64,
    /// Hashes of the queues for replies, and the number of messages that ask for direct ones.
    pub(crate) reply_queues: Values<u64>,
    pub(crate) direct_requests: u64,
    /// True if most messages are requests, and somebody answers them.
    pub(crate) is_request: bool,
    /// True if most messages are replies.
    pub(crate) is_reply: bool,
    pub(crate) kinds: Kinds,
    pub(crate) text_bytes: Buckets,
    /// Unconfirmed messages right after a publish.
    pub(crate) unconfirmed: Values<u32>,
    /// Lower bound of the most unconfirmed messages, where numbers are unknown.
    pub(crate) unconfirmed_at_least: u32,
    pub(crate) gaps: Buckets,
    pub(crate) counts: CountsOverTime,
    pub(crate) samples: GapSamples,
    pub(crate) blocks: Blocks<PublishBlock>,
    /// Number of publishes of which each frame began a segment.
    pub(crate) frame_by_frame: u64,
    /// Number of commits, for transactions.
    pub(crate) commits: u64,
    /// True if frames were missed, so that the next gap has no length.
    pub(crate) is_interrupted: bool,
    /// Unconfirmed messages right after the last publish.
    pub(crate) last_unconfirmed: Option<u32>,
}

/// The state around a publish.
pub(super) struct Around<'a> {
    pub(super) answers: &'a Answers,
    /// Unconfirmed messages of the channel, this one included.
    pub(super) unconfirmed: Option<u32>,
    pub(super) unconfirmed_at_least: u32,
    /// Number of the block of time.
    pub(super) block: usize,
    pub(super) random: &'a mut Random,
}

impl PublishFlow {
    pub(super) fn publish(
        &mut self,
        event: &Event<'_>,
        message: &Published<'_>,
        around: &mut Around<'_>,
    ) {
        let now = event.time.unix_nanos();
        if self.messages == 0 {
            self.first = now;
        } else if !std::mem::take(&mut self.is_interrupted) {
            self.pause(now, around);
        }
        self.messages += 1;
        if self.messages == STARTING + 1 {
            self.started = Some(now);
        }
        self.last = self.last.max(now);
        let completed = self.counts.add(now);
        let block = self.blocks.at(around.block);
        block.messages += 1;
        block.sizes.add(message.content.header.body_bytes);
        for (tally, more) in block.counts.iter_mut().zip(completed) {
            *tally = tally.plus(more);
        }
        self.frame_by_frame += u64::from(event.frames > 1 && event.is_frame_by_frame);
        around.unconfirmed.into_iter().for_each(|count| self.unconfirmed.add(count));
        self.last_unconfirmed = around.unconfirmed;
        self.unconfirmed_at_least = self.unconfirmed_at_least.max(around.unconfirmed_at_least);
        self.content(message);
    }

    fn content(&mut self, message: &Published<'_>) {
        let header = message.content.header;
        let is_known = match self.protocol {
            Protocol::Amqp091 => true,
            Protocol::Amqp10 | Protocol::Stream => !self.key.exchange.is_empty(),
            Protocol::Mqtt { .. } => false,
        };
        if is_known || !message.routing_key.is_empty() {
            self.routing_keys.add(String::from_utf8_lossy(message.routing_key).into_owned());
        }
        self.sizes.add(header.body_bytes);
        self.size_buckets.add(header.body_bytes);
        self.persistent += u64::from(header.is_persistent);
        self.mandatory += u64::from(message.mandatory);
        self.with_reply_to += u64::from(header.reply_to.is_some());
        self.direct_requests += u64::from(header.wants_direct_reply);
        header.reply_to.into_iter().for_each(|queue| self.reply_queues.add(queue));
        let Some(properties) = message.content.properties else { return };
        self.kinds.add(Kind {
            priority: properties.priority,
            expiration: properties.expiration,
            is_persistent: header.is_persistent,
            headers: properties.headers.map(|Headers { count, bytes }| (count, bytes)),
        });
        self.text_bytes.add(u64::from(properties.text_bytes));
    }

    fn pause(&mut self, now: u64, around: &mut Around<'_>) {
        let nanos = now.saturating_sub(self.last);
        self.gaps.add(nanos);
        self.blocks.at(around.block).gaps.add(nanos);
        // Messages of one segment have no pause between them. With many of these, a sample would have few pauses.
        if nanos == 0 {
            return;
        }
        let moment = self.last + around.random.below(nanos);
        if let (Some(since_answer), Some(since_answer_at_random)) =
            (around.answers.since_last(now), around.answers.since_last(moment))
        {
            let unconfirmed = self.last_unconfirmed;
            let sample = GapSample { nanos, since_answer, since_answer_at_random, unconfirmed };
            self.samples.add(sample, around.random);
        }
    }

    /// Records that frames were missed.
    pub(super) fn interrupt(&mut self) {
        self.is_interrupted = true;
    }
}
