//! A channel: its current messages, and its unsettled ones.

use rabbitscope_amqp::protocol::methods::{
    BASIC_GET_EMPTY, CHANNEL_OPEN, CONFIRM_SELECT, MethodId,
};

use super::{
    super::{
        latency::{Ending, Latency, Mark, index},
        replies::{Replies, ReplyKey},
    },
    confirms::Confirms,
    content::{Carrier, Content, Message},
    deliveries::Deliveries,
    turns::Turns,
};
use crate::{
    protocols::{Consume, ContentHeader, Details, Frame, Settlement},
    report::{LatencyKind, Side},
};

/// A channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    contents: [Content; 2],
    pub(super) confirms: Confirms,
    pub(super) deliveries: Deliveries,
    pub(super) turns: Turns,
}

impl Channel {
    /// Processes the next frame of the connection with this number. `is_timed` means that the frame was read when it
    /// arrived.
    #[inline]
    pub(super) fn frame(
        &mut self,
        connection: u64,
        frame: &Frame<'_>,
        replies: &mut Replies,
        is_timed: bool,
        sink: &mut impl FnMut(&Latency),
    ) {
        if let Some(message) = self.contents[index(frame.sender)].frame(&frame.details) {
            self.message(&message, connection, (frame, is_timed), replies, sink);
        }
        match &frame.details {
            Details::Settlement(settlement) => self.settle(settlement, (frame, is_timed), sink),
            Details::Consume(consume) => self.consume(consume, frame),
            Details::Method { number, .. } => self.method(*number, frame.place.last_packet),
            _ => {}
        }
    }

    fn message(
        &mut self,
        message: &Message,
        connection: u64,
        (frame, is_timed): (&Frame<'_>, bool),
        replies: &mut Replies,
        sink: &mut impl FnMut(&Latency),
    ) {
        let mark = Mark::from_frame(frame);
        match (message.carrier, frame.sender) {
            (Carrier::Publish(publish), Side::Client) => {
                self.confirms.publish(is_timed.then_some(mark));
                self.turns.publish(is_timed.then_some(mark.time));
                let address = publish.routing_key;
                reply(&message.header, address, (frame, None), (replies, sink));
                request(&message.header, (frame, connection), replies);
            }
            (Carrier::Delivery(delivery), Side::Broker) => {
                self.deliveries.deliver(&delivery, mark);
                let place = delivery.is_direct_reply.then_some((connection, frame.channel));
                let address = if place.is_some() { 0 } else { delivery.routing_key };
                reply(&message.header, address, (frame, place), (replies, sink));
                request(&message.header, (frame, connection), replies);
            }
            _ => {}
        }
    }

    fn settle(
        &mut self,
        settlement: &Settlement,
        (frame, is_timed): (&Frame<'_>, bool),
        sink: &mut impl FnMut(&Latency),
    ) {
        match frame.sender {
            Side::Client => {
                let ending = Ending::new(LatencyKind::DeliverToAck, frame, frame.channel);
                self.deliveries.settle(settlement, &ending, sink);
            }
            Side::Broker => {
                let ending = Ending::new(LatencyKind::PublishToConfirm, frame, frame.channel);
                self.confirms.confirm(settlement, is_timed.then_some(&ending), sink);
                self.turns.confirm(is_timed.then_some(frame.place.time));
            }
        }
    }

    fn consume(&mut self, consume: &Consume, frame: &Frame<'_>) {
        let packet = frame.place.last_packet;
        match frame.kind {
            "basic.consume" => self.deliveries.consume(consume, packet),
            "basic.consume-ok" => self.deliveries.consuming(consume, packet),
            _ => self.deliveries.get(consume, packet),
        }
    }

    fn method(&mut self, number: MethodId, packet: u64) {
        match number {
            CHANNEL_OPEN => {
                self.contents = Default::default();
                self.confirms.open();
                self.turns.forget();
                self.deliveries.open();
            }
            CONFIRM_SELECT => self.confirms.select(),
            BASIC_GET_EMPTY => self.deliveries.got_nothing(packet),
            _ => {}
        }
    }

    /// Records that the frames of `sender` cannot be read.
    pub(super) fn lose(&mut self, sender: Side) {
        self.contents[index(sender)].forget();
        self.turns.forget();
        match sender {
            Side::Client => {
                self.confirms.lose_publishes();
                self.deliveries.lose_acks();
            }
            Side::Broker => self.confirms.lose_confirms(),
        }
    }

    /// Records that frames of the client were missed, or are seen later than those that followed them.
    pub(super) fn miss_publishes(&mut self) {
        self.confirms.count_anew();
        self.turns.forget();
    }

    /// Records that the frames of `sender` can be read again.
    pub(super) fn find(&mut self, sender: Side) {
        match sender {
            Side::Client => self.deliveries.find_acks(),
            Side::Broker => self.confirms.find_confirms(),
        }
    }
}

/// Records a message that requests a reply.
fn request(header: &ContentHeader, (frame, connection): (&Frame<'_>, u64), replies: &mut Replies) {
    if let (Some(reply_to), Some(correlation_id)) = (header.reply_to, header.correlation_id) {
        let is_answering = frame.sender == Side::Broker;
        let is_direct = header.wants_direct_reply && !is_answering;
        let place = is_direct.then_some((connection, frame.channel));
        let address = if is_direct { 0 } else { reply_to };
        replies.request(
            ReplyKey { address, correlation_id, place, is_answering },
            Mark::from_frame(frame),
        );
    }
}

/// Processes a message that may be a reply: one to an address, with a correlation id.
fn reply(
    header: &ContentHeader,
    address: u64,
    (frame, place): (&Frame<'_>, Option<(u64, u16)>),
    (replies, sink): (&mut Replies, &mut impl FnMut(&Latency)),
) {
    if let Some(correlation_id) = header.correlation_id {
        let is_answering = frame.sender == Side::Client;
        let key = ReplyKey { address, correlation_id, place, is_answering };
        let ending = Ending::new(LatencyKind::RequestToReply, frame, frame.channel);
        replies.reply(&key, &ending, sink);
    }
}
