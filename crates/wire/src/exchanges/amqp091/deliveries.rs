//! Deliveries of a channel and their acknowledgements.
//!
//! In the middle of a connection it is unknown whether a consumer acknowledges. A channel with 65,536 deliveries and no
//! acknowledgement does not: AMQP's largest prefetch is one less. It is also unknown for a single message whose request
//! was not seen. Such a message is measured if it is acknowledged alone; an acknowledgement of several may concern
//! others.

use std::collections::{HashMap, HashSet};

use super::{
    super::{
        latency::{Ending, Latency, Mark},
        outstanding::Outstanding,
    },
    asked::Asked,
};
use crate::{
    protocols::{Consume, Delivery, Settlement},
    report::Unmatched,
};

/// Maximum of consumers of a channel that are known to need no acknowledgements.
const CONSUMERS_MAX: usize = 4096;
/// Maximum of single messages whose requests were not seen.
const UNASKED_MAX: usize = 256;

/// Unacknowledged deliveries of a channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    /// Hashes of the tags of consumers without acknowledgements.
    auto_ack: HashSet<u64>,
    /// Requests for consumers.
    consumes: Asked,
    /// Requests for single messages.
    gets: Asked,
    /// Single messages, by tag, that may or may not need acknowledgements.
    unasked: HashMap<u64, Mark>,
    habit: Habit,
    outstanding: Outstanding,
}

/// The client's use of acknowledgements.
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
        self.consumes.forget();
        self.gets.forget();
        self.unasked.clear();
    }

    /// `basic.consume`. A consumer without a tag gets one in the answer.
    pub(super) fn consume(&mut self, consume: &Consume, packet: u64) {
        match consume.consumer_tag {
            Some(tag) if consume.no_wait => self.consumer(tag, consume.auto_ack),
            _ => self.consumes.ask(consume.auto_ack, packet),
        }
    }

    /// `basic.consume-ok`
    pub(super) fn consuming(&mut self, consume: &Consume, packet: u64) {
        if let (Some(tag), Some(auto_ack)) = (consume.consumer_tag, self.consumes.answer(packet)) {
            self.consumer(tag, auto_ack);
        }
    }

    fn consumer(&mut self, tag: u64, auto_ack: bool) {
        if auto_ack && self.auto_ack.len() < CONSUMERS_MAX {
            self.auto_ack.insert(tag);
        }
    }

    /// `basic.get`
    pub(super) fn get(&mut self, consume: &Consume, packet: u64) {
        self.gets.ask(consume.auto_ack, packet);
    }

    /// `basic.get-empty`
    pub(super) fn got_nothing(&mut self, packet: u64) {
        self.gets.answer(packet);
    }

    /// Records a delivered message.
    #[inline]
    pub(super) fn deliver(&mut self, delivery: &Delivery, mark: Mark) {
        let needs_ack = match delivery.consumer_tag {
            Some(_) if self.auto_ack.is_empty() => true,
            Some(tag) => !self.auto_ack.contains(&tag),
            None => match self.gets.answer(mark.packet) {
                Some(auto_ack) => !auto_ack,
                None => return self.get_unasked(delivery.delivery_tag, mark),
            },
        };
        if needs_ack && self.habit != Habit::Never {
            self.outstanding.push(delivery.delivery_tag, mark);
            if self.habit == Habit::Unknown && self.outstanding.is_full() {
                self.habit = Habit::Never;
                self.outstanding = Outstanding::default();
            }
        }
    }

    /// Records a single message that may or may not need an acknowledgement.
    fn get_unasked(&mut self, tag: u64, mark: Mark) {
        if self.unasked.len() < UNASKED_MAX {
            self.unasked.insert(tag, mark);
        }
    }

    /// Records an acknowledgement, positive or negative.
    pub(super) fn settle(
        &mut self,
        settlement: &Settlement,
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        self.habit = Habit::Acknowledges;
        if settlement.multiple {
            self.unasked.retain(|tag, _| settlement.tag != 0 && *tag > settlement.tag);
        } else if let Some(mark) = self.unasked.remove(&settlement.tag) {
            return sink(&ending.since(mark));
        }
        match (settlement.multiple, settlement.tag) {
            // Settles all outstanding messages (AMQP 0-9-1, basic.ack).
            (true, 0) => self.outstanding.settle_up_to(u64::MAX, ending, sink),
            (true, tag) => self.outstanding.settle_up_to(tag, ending, sink),
            (false, tag) => self.outstanding.settle(tag, ending, sink),
        }
    }

    /// Records that the client's frames cannot be read.
    pub(super) fn lose_acks(&mut self) {
        self.outstanding.deafen();
        self.consumes.forget();
        self.gets.forget();
        self.unasked.clear();
    }

    /// Records that the client's frames can be read again.
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
