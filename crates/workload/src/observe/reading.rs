//! A flow of deliveries: those of one consumer, of one channel's `basic.get` for one queue, of one client of MQTT, or of one
//! link.

use core::net::SocketAddr;
use std::collections::VecDeque;

use rabbitscope_wire::activity::{Joined, Settlement};

use super::{
    blocks::{Blocks, ReadBlock},
    links::StreamReader,
    mqtt::{Protocol, Subscription},
    overtaking::{Order, Overtaking},
};
use crate::figures::{Buckets, Relayed, Sparse, Values};

/// Time from a settlement to the next delivery up to which that one had waited for it, in nanoseconds.
const PROMPT_NANOS: u64 = 2_000_000;
/// Settlements among which several workers show, if they are often busy.
const EARLY: u64 = 200;
/// Maximum of processing times that are kept until the number of workers is sure.
const WAITED_MAX: usize = 256;

/// `basic.qos`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Prefetch {
    /// Neither seen nor known.
    #[default]
    Unknown,
    /// No limit.
    Unlimited,
    /// Messages of each consumer.
    Consumer(u16),
    /// Messages of each channel.
    Channel(u16),
}

/// A flow of deliveries.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other")]
pub(crate) struct ReadFlow {
    /// The group in the scenario, for clients that are this program.
    pub(crate) group: Option<String>,
    pub(crate) connection: u64,
    /// Address of the client.
    pub(crate) client: Option<SocketAddr>,
    pub(crate) channel: u16,
    pub(crate) vhost: Option<String>,
    pub(crate) product: String,
    pub(crate) protocol: Protocol,
    /// The client id of MQTT, if it is known, and the filters of its subscription.
    pub(crate) client_id: Option<String>,
    pub(crate) subscription: Subscription,
    pub(crate) stream: StreamReader,
    /// True if the broker ended it before the first message, because there is no such queue.
    pub(crate) is_refused: bool,
    /// The place of a link of AMQP 1.0 whose begin was not seen.
    pub(crate) joined: Option<Joined>,
    /// Number of times that the reader of a stream stored its offset.
    pub(crate) stored_offsets: u64,
    /// The consumer tag; empty for `basic.get`. Of AMQP 1.0 the broker's handle.
    pub(crate) consumer_tag: String,
    /// The queue, if the request for it was seen.
    pub(crate) queue: Option<String>,
    /// True if the messages are replies to requests.
    pub(crate) is_of_replies: bool,
    pub(crate) is_polling: bool,
    pub(crate) no_ack: Option<bool>,
    pub(crate) exclusive: bool,
    pub(crate) priority: Option<i64>,
    pub(crate) prefetch: Prefetch,
    pub(crate) deliveries: u64,
    pub(crate) redelivered: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Exchanges and routing keys of the deliveries; topics with MQTT.
    pub(crate) routes: Values<(String, String)>,
    pub(crate) sizes: Buckets,
    /// Number of settling methods, and of settled messages, by method.
    pub(crate) settled: Settled,
    /// Messages settled by each method.
    pub(crate) per_settlement: Values<u64>,
    pub(crate) most_unsettled: u64,
    /// Settlements right after a publish on the same channel.
    pub(crate) relayed: Relayed,
    /// Times from delivery to acknowledgement, in nanoseconds.
    pub(crate) raw: Buckets,
    /// Processing times in nanoseconds.
    pub(crate) service: Buckets,
    pub(crate) overtaking: Overtaking,
    /// Questions by `basic.get`, and those that found the queue empty.
    pub(crate) gets: u64,
    pub(crate) empty: u64,
    /// Times from an answer to the next question, in nanoseconds.
    pub(crate) poll_intervals: Buckets,
    pub(crate) blocks: Blocks<ReadBlock>,
    pub(crate) last_settled_at: u64,
    /// Times of all settled messages, as of a client that takes one after the other, in nanoseconds.
    pub(crate) working: u64,
    /// Deliveries, or chunks, and those of them that came right after a settlement or a credit: more had waited.
    pub(crate) arrivals: u64,
    pub(crate) prompt: u64,
    /// Latest processing times of messages that waited for a worker, with their blocks. More workers than are known would
    /// make them longer.
    pub(crate) waited: VecDeque<(usize, u64)>,
    pub(crate) last_answer: Option<u64>,
}

/// Numbers of settled messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) acks: u64,
    pub(crate) requeues: u64,
    pub(crate) discards: u64,
}

impl Settled {
    pub(crate) const fn total(self) -> u64 {
        self.acks + self.requeues + self.discards
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            acks: self.acks + other.acks,
            requeues: self.requeues + other.requeues,
            discards: self.discards + other.discards,
        }
    }

    const fn add(&mut self, settlement: Settlement, messages: u64) {
        match settlement {
            Settlement::Ack => self.acks += messages,
            Settlement::Nack { requeue: true } | Settlement::Reject { requeue: true } => {
                self.requeues += messages;
            }
            Settlement::Nack { .. } | Settlement::Reject { .. } => self.discards += messages,
        }
    }
}

/// A time in nanoseconds, and the number of its block.
pub(super) type Moment = (u64, usize);

/// Messages of a flow that one method settles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    pub(super) messages: u64,
    /// Times of the first and the last delivery among them, in nanoseconds.
    pub(super) first_delivered: u64,
    pub(super) last_delivered: u64,
    pub(super) begin: Begin,
    /// Absent for a batch.
    pub(super) order: Option<Order>,
    /// The number of workers that was known before, where this settlement shows more.
    pub(super) grown_from: Option<usize>,
}

/// The time at which a consumer begins with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// When it has settled the last one, as a consumer that takes one message after the other.
    AfterTheLast,
    /// At this time, in nanoseconds.
    At(u64),
    Unknown,
}

impl Batch {
    /// Creates a batch of a single message.
    pub(super) const fn of_one(delivered: u64) -> Self {
        Self {
            messages: 1,
            first_delivered: delivered,
            last_delivered: delivered,
            begin: Begin::AfterTheLast,
            order: None,
            grown_from: None,
        }
    }
}

impl ReadFlow {
    /// Returns the queue, also by the routing key of most messages from the default exchange; none if it is unknown.
    pub(crate) fn known_queue(&self) -> Option<&str> {
        self.queue.as_deref().or_else(|| {
            let ((exchange, key), _) = self.routes.most_frequent()?;
            exchange.is_empty().then_some(key.as_str())
        })
    }

    pub(super) fn deliver(&mut self, (now, block): Moment, bytes: u64, redelivered: bool) {
        if self.deliveries == 0 {
            self.first = now;
        }
        self.arrive(now);
        self.deliveries += 1;
        self.last = self.last.max(now);
        self.redelivered += u64::from(redelivered);
        self.sizes.add(bytes);
        self.blocks.at(block).messages += 1;
    }

    fn arrive(&mut self, now: u64) {
        let is_prompt =
            self.last_settled_at > 0 && now.saturating_sub(self.last_settled_at) <= PROMPT_NANOS;
        self.arrivals += 1;
        self.prompt += u64::from(is_prompt);
    }

    /// Records messages that come together.
    pub(super) fn deliver_chunk(&mut self, (now, block): Moment, messages: u32, bytes: u32) {
        if messages == 0 {
            return;
        }
        if self.deliveries == 0 {
            self.first = now;
        }
        self.arrive(now);
        let messages = u64::from(messages);
        self.deliveries += messages;
        self.last = self.last.max(now);
        self.sizes.add_times(u64::from(bytes) / messages, messages);
        self.blocks.at(block).messages += messages;
    }

    /// Records the number of unsettled messages after a delivery.
    pub(super) fn hold(&mut self, (_, block): Moment, unsettled: u64) {
        self.most_unsettled = self.most_unsettled.max(unsettled);
        self.blocks.at(block).unsettled.add(unsettled);
    }

    /// Records that messages were settled.
    ///
    /// A consumer that takes one message after the other begins with one when it has it and has settled the last one. For a batch the shorter of two times is taken: that of its last message, and the mean of all.
    pub(super) fn settle(&mut self, (now, block): Moment, settlement: Settlement, batch: Batch) {
        self.settled.add(settlement, batch.messages);
        self.per_settlement.add(batch.messages);
        if batch.grown_from.is_some() {
            self.waited.clear();
        }
        if batch.grown_from == Some(1) && self.settled.total() <= EARLY {
            // Times up to here took them for one. Later, workers are rare enough to leave the times as they are.
            self.service = Buckets::default();
            for block in self.blocks.as_mut_slice() {
                block.service = Sparse::default();
            }
        }
        self.process((now, block), batch);
    }

    /// Records the times of settled messages, or of those of a chunk whose credit is given back.
    pub(super) fn process(&mut self, (now, block): Moment, batch: Batch) {
        let number = block;
        let block = self.blocks.at(block);
        let raw = now.saturating_sub(batch.last_delivered);
        self.raw.add(raw);
        block.raw.add(raw);
        if let Some(order) = batch.order {
            self.overtaking.add(order);
        }
        let since = |begin: u64| now.saturating_sub(begin.max(self.last_settled_at));
        let service = match batch.begin {
            Begin::AfterTheLast => {
                let mean = since(batch.first_delivered) / batch.messages.max(1);
                Some(since(batch.last_delivered).min(mean))
            }
            Begin::At(begin) if begin > batch.last_delivered => {
                self.waited.push_back((number, now.saturating_sub(begin)));
                None
            }
            Begin::At(begin) => Some(now.saturating_sub(begin)),
            Begin::Unknown => None,
        };
        if let Some(service) = service {
            self.service.add(service);
            block.service.add(service);
            self.working = self.working.saturating_add(service.saturating_mul(batch.messages));
        }
        self.last_settled_at = now;
        self.count_waited(WAITED_MAX);
    }

    /// Counts times of messages that waited for a worker, except the latest ones.
    pub(super) fn count_waited(&mut self, except: usize) {
        let sure = self.waited.len().saturating_sub(except);
        for (block, service) in self.waited.drain(..sure) {
            self.service.add(service);
            self.blocks.at(block).service.add(service);
        }
    }

    /// Records a question by `basic.get`.
    pub(super) fn ask(&mut self, (now, block): Moment) {
        self.gets += 1;
        if let Some(answer) = self.last_answer.take() {
            let interval = now.saturating_sub(answer);
            self.poll_intervals.add(interval);
            self.blocks.at(block).polls.add(interval);
        }
    }

    /// Records the answer to a question.
    pub(super) fn answer(&mut self, now: u64, is_empty: bool) {
        self.empty += u64::from(is_empty);
        self.last_answer = Some(now);
    }

    /// Records that frames were missed.
    pub(super) fn interrupt(&mut self) {
        self.last_answer = None;
    }
}
