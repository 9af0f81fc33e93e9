//! A channel of a connection.

use std::collections::VecDeque;

use rabbitscope_wire::activity::{Joined, Qos};
use rustc_hash::FxHashMap;

use super::{
    confirms::Confirms, deliveries::Deliveries, links::Link, publishing::ConfirmMode,
    reading::Prefetch,
};
use crate::{figures::Turns, topology::Queue};

/// Maximum of requests that wait for an answer.
const PENDING_MAX: usize = 1_024;

/// State of a channel.
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// Time of `channel.open` in nanoseconds; none if it was not seen.
    pub(super) opened: Option<u64>,
    pub(super) mode: ConfirmMode,
    pub(super) confirms: Confirms,
    pub(super) deliveries: Deliveries,
    pub(super) turns: Turns,
    of_each: Prefetch,
    of_all: Option<Prefetch>,
    /// Flows of consumers, by tag. Readers of other protocols than AMQP 0-9-1 have an empty one.
    pub(super) consumers: FxHashMap<Vec<u8>, usize>,
    /// Flows of consumers whose tags the broker still has to choose.
    pub(super) nameless: Pending<usize>,
    /// Flows of `basic.get`, by queue.
    pub(super) polls: FxHashMap<String, usize>,
    /// Flows of questions by `basic.get` without an answer yet.
    pub(super) asked: Pending<usize>,
    /// Flows of publishes, by exchange; with MQTT by quality of service; of links by queue or exchange.
    pub(super) publishes: FxHashMap<Vec<u8>, usize>,
    pub(super) last_queue: Option<String>,
    /// Declared queues whose names the broker still has to choose.
    pub(super) declared: Pending<Option<Queue>>,
    /// The publisher or reader of AMQP 1.0 or of streams; absent if its begin was not seen, and with other protocols.
    pub(super) link: Option<Box<Link>>,
    /// A link of AMQP 1.0 whose begin was not seen.
    pub(super) joined: Option<Joined>,
}

/// Requests that wait for their answers, in order.
#[derive(Debug)]
pub(super) struct Pending<T>(VecDeque<T>);

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Pending<T> {
    pub(super) fn add(&mut self, request: T) {
        if self.0.len() < PENDING_MAX {
            self.0.push_back(request);
        }
    }

    pub(super) fn answer(&mut self) -> Option<T> {
        self.0.pop_front()
    }

    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

impl Channel {
    /// Creates a channel that is opened now.
    pub(super) fn opened_at(nanos: u64) -> Self {
        Self { opened: Some(nanos), of_each: Prefetch::Unlimited, ..Self::default() }
    }

    /// Creates the channel of a publisher or a reader that begins now.
    pub(super) fn of_link(nanos: u64, link: Link) -> Self {
        let confirms = Confirms::new_select();
        Self { confirms, link: Some(Box::new(link)), ..Self::opened_at(nanos) }
    }

    /// Sets that nothing was published yet by MQTT.
    pub(super) fn begin_by_mqtt(&mut self) {
        self.confirms = Confirms::new_select();
    }

    pub(super) fn select_confirms(&mut self) {
        if self.mode != ConfirmMode::Confirms {
            self.mode = ConfirmMode::Confirms;
            if self.opened.is_some() {
                self.confirms = Confirms::new_select();
            }
        }
    }

    pub(super) const fn set_prefetch(&mut self, qos: Qos) {
        let count = qos.prefetch_count;
        match (qos.global, count) {
            (true, 0) => self.of_all = None,
            (true, count) => self.of_all = Some(Prefetch::Channel(count)),
            (false, 0) => self.of_each = Prefetch::Unlimited,
            (false, count) => self.of_each = Prefetch::Consumer(count),
        }
    }

    /// Returns the limit of a consumer that starts now.
    pub(super) fn prefetch(&self) -> Prefetch {
        match (self.of_each, self.of_all) {
            (Prefetch::Consumer(count), _) => Prefetch::Consumer(count),
            (_, Some(limit)) | (limit, None) => limit,
        }
    }

    /// Records that frames were missed.
    pub(super) fn miss(&mut self) {
        self.confirms.miss();
        self.deliveries.forget();
        self.turns.miss();
        self.nameless.forget();
        self.asked.forget();
        self.declared.forget();
        self.link.iter_mut().for_each(|link| link.forget());
    }
}
