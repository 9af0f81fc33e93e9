//! A flow of deliveries: those of one consumer, or of one channel's `basic.get` for one queue.

use core::net::SocketAddr;

use rabbitscope_wire::activity::Settlement;

use super::blocks::{Blocks, ReadBlock};
use crate::figures::{Buckets, Values};

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
pub(crate) struct ReadFlow {
    /// The group in the scenario, for clients that are this program.
    pub(crate) group: Option<String>,
    pub(crate) connection: u64,
    /// Address of the client.
    pub(crate) client: Option<SocketAddr>,
    pub(crate) channel: u16,
    pub(crate) vhost: Option<String>,
    pub(crate) product: String,
    /// The consumer tag; empty for `basic.get`.
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
    /// Exchanges and routing keys of the deliveries.
    pub(crate) routes: Values<(String, String)>,
    pub(crate) sizes: Buckets,
    /// Number of settling methods, and of settled messages, by method.
    pub(crate) settled: Settled,
    /// Messages settled by each method.
    pub(crate) per_settlement: Values<u64>,
    pub(crate) most_unsettled: u64,
    /// Times from delivery to acknowledgement, in nanoseconds.
    pub(crate) raw: Buckets,
    /// Processing times of a consumer that takes one message after the other, in nanoseconds.
    pub(crate) service: Buckets,
    /// Number of messages that were settled after a later one.
    pub(crate) out_of_order: u64,
    /// Questions by `basic.get`, and those that found the queue empty.
    pub(crate) gets: u64,
    pub(crate) empty: u64,
    /// Times from an answer to the next question, in nanoseconds.
    pub(crate) poll_intervals: Buckets,
    pub(crate) blocks: Blocks<ReadBlock>,
    pub(crate) last_settled_at: u64,
    pub(crate) last_settled_tag: u64,
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
    pub(super) last_tag: u64,
}

impl ReadFlow {
    pub(super) fn deliver(&mut self, (now, block): Moment, bytes: u64, redelivered: bool) {
        if self.deliveries == 0 {
            self.first = now;
        }
        self.deliveries += 1;
        self.last = self.last.max(now);
        self.redelivered += u64::from(redelivered);
        self.sizes.add(bytes);
        self.blocks.at(block).messages += 1;
    }

    /// Records the number of unsettled messages after a delivery.
    pub(super) fn hold(&mut self, (_, block): Moment, unsettled: u64) {
        self.most_unsettled = self.most_unsettled.max(unsettled);
        self.blocks.at(block).unsettled.add(unsettled);
    }

    /// Records that messages were settled.
    ///
    /// A consumer that takes one message after the other begins with a message when it has it and has settled the one
    /// before. For a batch the shorter of two times is taken: that of its last message, and the mean of all.
    pub(super) fn settle(&mut self, (now, block): Moment, settlement: Settlement, batch: Batch) {
        self.settled.add(settlement, batch.messages);
        self.per_settlement.add(batch.messages);
        let block = self.blocks.at(block);
        let raw = now.saturating_sub(batch.last_delivered);
        self.raw.add(raw);
        block.raw.add(raw);
        if batch.last_tag < self.last_settled_tag {
            self.out_of_order += batch.messages;
        }
        let since = |begin: u64| now.saturating_sub(begin.max(self.last_settled_at));
        let mean = since(batch.first_delivered) / batch.messages.max(1);
        let service = since(batch.last_delivered).min(mean);
        self.service.add(service);
        block.service.add(service);
        self.last_settled_at = now;
        self.last_settled_tag = self.last_settled_tag.max(batch.last_tag);
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
