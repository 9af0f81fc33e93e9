//! The channels of a connection, and its synchronous methods.

use rustc_hash::FxHashMap;

use super::{
    super::{
        latency::{Ending, Latency, Mark, add, index},
        replies::Replies,
        requests::Requests,
    },
    channel::Channel,
    methods::{answered_by, is_synchronous},
    turns::TurnFigures,
};
use crate::{
    packet::Timestamp,
    protocols::{Details, Frame},
    report::{LatencyKind, Side, Unmatched},
};

/// Maximum of channels of a connection that are followed. RabbitMQ's `channel_max` is 2,047.
const CHANNELS_MAX: usize = 4096;

/// A side's frames whose time is unknown: the other side had them before they were seen, or bytes before them never
/// arrived.
#[derive(Clone, Copy, Debug, Default)]
struct Blur {
    is_behind: bool,
    until: Option<Timestamp>,
}

impl Blur {
    fn is_timed(&self, time: Timestamp) -> bool {
        !self.is_behind && self.until.is_none_or(|until| time > until)
    }
}

/// The channels of a connection.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Channels {
    by_number: FxHashMap<u16, Box<Channel>>,
    requests: Requests,
    /// Sides that cannot be read now.
    lost: Vec<Side>,
    /// Frames that cannot be timed, by side.
    blurs: [Blur; 2],
    left_out: u64,
}

impl Channels {
    #[inline]
    pub(in super::super) fn frame(
        &mut self,
        connection: u64,
        frame: &Frame<'_>,
        replies: &mut Replies,
        sink: &mut impl FnMut(&Latency),
    ) {
        self.methods(frame, sink);
        let is_timed = self.blurs[index(frame.sender)].is_timed(frame.place.time);
        if let Some(channel) = self.channel(frame.channel) {
            channel.frame(connection, frame, replies, is_timed, sink);
        }
    }

    fn channel(&mut self, number: u16) -> Option<&mut Box<Channel>> {
        if self.by_number.len() >= CHANNELS_MAX && !self.by_number.contains_key(&number) {
            self.left_out += 1;
            return None;
        }
        let lost = &self.lost;
        Some(self.by_number.entry(number).or_insert_with(|| {
            let mut channel = Box::<Channel>::default();
            for side in lost {
                channel.lose(*side);
            }
            channel
        }))
    }

    fn methods(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(&Latency)) {
        let no_wait = match &frame.details {
            Details::Method { no_wait, .. } => *no_wait,
            Details::Consume(consume) => consume.no_wait,
            // An answer to basic.get.
            Details::Delivery(delivery) if delivery.consumer_tag.is_none() => false,
            _ => return,
        };
        let number = u32::from(frame.channel);
        if let Some(request) = answered_by(frame.kind) {
            let ending = Ending::new(LatencyKind::Method, frame, frame.channel);
            self.requests.answer(frame.sender, (request, number), &ending, sink);
        } else if is_synchronous(frame.kind) && !no_wait {
            self.requests.open(frame.sender, frame.kind, number, Mark::from_frame(frame));
        }
    }

    pub(in super::super) fn lose(&mut self, sender: Side) {
        if !self.lost.contains(&sender) {
            self.lost.push(sender);
        }
        self.requests.lose(sender);
        self.by_number.values_mut().for_each(|channel| channel.lose(sender));
    }

    pub(in super::super) fn find(&mut self, sender: Side) {
        self.lost.retain(|lost| *lost != sender);
        self.requests.find(sender);
        for channel in self.by_number.values_mut() {
            channel.find(sender);
            // Frames that are recognized only now are reported later than they arrived.
            channel.miss_publishes();
        }
    }

    /// Records whether the other side has bytes of `sender` that were not seen.
    pub(in super::super) fn behind(&mut self, sender: Side, is_behind: bool) {
        self.blurs[index(sender)].is_behind = is_behind;
        if sender == Side::Client {
            self.by_number.values_mut().for_each(|channel| channel.miss_publishes());
        }
    }

    /// Records that bytes of a side never arrived; the bytes after them are read at this time.
    pub(in super::super) fn gap(&mut self, sender: Side, time: Timestamp) {
        self.blurs[index(sender)].until = Some(time);
        self.by_number.values_mut().for_each(|channel| channel.miss_publishes());
    }

    pub(in super::super) fn unmatched(&self, kind: LatencyKind) -> Unmatched {
        let left_out = Unmatched { left_out: self.left_out, ..Unmatched::default() };
        match kind {
            LatencyKind::PublishToConfirm => {
                let all = self.by_number.values().map(|channel| channel.confirms.unmatched());
                all.fold(left_out, add)
            }
            LatencyKind::DeliverToAck => {
                let all = self.by_number.values().map(|channel| channel.deliveries.unmatched());
                all.fold(left_out, add)
            }
            LatencyKind::Method => self.requests.unmatched(),
            // Without numbers, a publish and its confirm count as `unknown_number` of the kind above.
            LatencyKind::PublishToConfirmAtLeast
            // All connections share one `Replies`.
            | LatencyKind::RequestToReply
            | LatencyKind::ServiceTime => Unmatched::default(),
        }
    }

    pub(in super::super) fn most_unconfirmed(&self) -> u64 {
        let most = self.by_number.values().map(|channel| channel.confirms.most_open());
        most.max().unwrap_or(0)
    }

    pub(in super::super) fn turns(&self) -> TurnFigures {
        let all = self.by_number.values().map(|channel| channel.turns.figures());
        all.fold(TurnFigures::default(), TurnFigures::plus)
    }

    pub(in super::super) fn most_unacknowledged(&self) -> u64 {
        let most = self.by_number.values().map(|channel| channel.deliveries.most_open());
        most.max().unwrap_or(0)
    }

    /// Returns the number of channels with frames.
    pub(in super::super) fn count(&self) -> u64 {
        self.by_number.keys().filter(|number| **number != 0).count() as u64
    }
}
