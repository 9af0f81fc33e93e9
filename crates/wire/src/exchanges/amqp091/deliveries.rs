//! Deliveries of a channel and their acknowledgements.
//!
//! In the middle of a connection nobody knows whether a consumer acknowledges. A channel with 65,536 deliveries and no
//! acknowledgement does not: AMQP's largest prefetch is one less.

use std::collections::{HashSet, VecDeque};

use super::super::{
    latency::{Ending, Latency, Mark},
    outstanding::Outstanding,
};
use crate::{
    protocols::{Consume, Delivery, Settlement},
    report::Unmatched,
};

/// Consumers of a channel that are known to need no acknowledgements.
const CONSUMERS_MAX: usize = 4096;
/// Requests for a consumer or a message that are not answered yet.
const ASKED_MAX: usize = 256;

/// Deliveries of a channel that are not acknowledged yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    /// Hashes of tags of consumers without acknowledgements.
    auto_ack: HashSet<u64>,
    /// Consumers that were asked for: whether they need no acknowledgements.
    consumes: VecDeque<bool>,
    /// The same of single messages.
    gets: VecDeque<bool>,
    habit: Habit,
    outstanding: Outstanding,
}

/// Whether the client acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Habit {
    #[default]
    Unknown,
    Acknowledges,
    Never,
}

impl Deliveries {
    /// `channel.open`
    pub(super) fn open(&mut self) {
        self.outstanding.forget();
        self.habit = Habit::Unknown;
        self.auto_ack.clear();
        self.consumes.clear();
        self.gets.clear();
    }

    /// `basic.consume`. A consumer without a tag gets one in the answer.
    pub(super) fn consume(&mut self, consume: &Consume) {
        match consume.consumer_tag {
            Some(tag) if consume.no_wait => self.consumer(tag, consume.auto_ack),
            _ => ask(&mut self.consumes, consume.auto_ack),
        }
    }

    /// `basic.consume-ok`
    pub(super) fn consuming(&mut self, consume: &Consume) {
        if let (Some(tag), Some(auto_ack)) = (consume.consumer_tag, self.consumes.pop_front()) {
            self.consumer(tag, auto_ack);
        }
    }

    fn consumer(&mut self, tag: u64, auto_ack: bool) {
        if auto_ack && self.auto_ack.len() < CONSUMERS_MAX {
            self.auto_ack.insert(tag);
        }
    }

    /// `basic.get`
    pub(super) fn get(&mut self, consume: &Consume) {
        ask(&mut self.gets, consume.auto_ack);
    }

    /// `basic.get-empty`
    pub(super) fn got_nothing(&mut self) {
        self.gets.pop_front();
    }

    /// A message was delivered.
    #[inline]
    pub(super) fn deliver(&mut self, delivery: &Delivery, mark: Mark) {
        let needs_ack = match delivery.consumer_tag {
            Some(_) if self.auto_ack.is_empty() => true,
            Some(tag) => !self.auto_ack.contains(&tag),
            None => self.gets.pop_front() != Some(true),
        };
        if needs_ack && self.habit != Habit::Never {
            self.outstanding.push(delivery.delivery_tag, mark);
            if self.habit == Habit::Unknown && self.outstanding.is_full() {
                self.habit = Habit::Never;
                self.outstanding = Outstanding::default();
            }
        }
    }

    /// An acknowledgement, positive or negative.
    pub(super) fn settle(
        &mut self,
        settlement: &Settlement,
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        self.habit = Habit::Acknowledges;
        match (settlement.multiple, settlement.tag) {
            // All that are there (AMQP 0-9-1, basic.ack).
            (true, 0) => self.outstanding.settle_up_to(u64::MAX, ending, sink),
            (true, tag) => self.outstanding.settle_up_to(tag, ending, sink),
            (false, tag) => self.outstanding.settle(tag, ending, sink),
        }
    }

    /// What the client sends cannot be read.
    pub(super) fn lose_acks(&mut self) {
        self.outstanding.deafen();
        self.consumes.clear();
        self.gets.clear();
    }

    /// What the client sends can be read again.
    pub(super) fn find_acks(&mut self) {
        self.outstanding.listen();
    }

    pub(super) const fn most_open(&self) -> u64 {
        self.outstanding.most_open()
    }

    pub(super) fn unmatched(&self) -> Unmatched {
        self.outstanding.unmatched()
    }
}

fn ask(asked: &mut VecDeque<bool>, auto_ack: bool) {
    if asked.len() < ASKED_MAX {
        asked.push_back(auto_ack);
    }
}
