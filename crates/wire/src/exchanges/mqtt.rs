//! MQTT: packets and their answers, by packet identifier.

use rustc_hash::FxHashMap;

use super::{
    latency::{Ending, Latency, Mark, index},
    requests::Requests,
};
use crate::{
    protocols::{Details, Frame, MqttPacket, peer_of},
    report::{LatencyKind, Side, Unmatched},
};

/// Unanswered packets of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Packets {
    /// Publishes by sender.
    published: [Published; 2],
    others: Requests,
}

/// Publishes of one side. Their number is bounded by that of identifiers.
#[derive(Clone, Debug, Default)]
struct Published {
    open: FxHashMap<u16, Mark>,
    most_open: u64,
    is_deaf: bool,
    unmatched: Unmatched,
}

impl Packets {
    pub(super) fn frame(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(&Latency)) {
        let Details::Mqtt(packet) = frame.details else { return };
        let (quality_of_service, identifier) = (packet.quality_of_service, packet.identifier);
        let sender = frame.sender;
        match frame.kind {
            "PUBLISH" if quality_of_service > 0 => {
                self.published[index(sender)].open(identifier, Mark::from_frame(frame));
            }
            "PUBACK" | "PUBREC" => {
                let ending = Ending::new(kind_from(peer_of(sender)), frame, 0);
                self.published[index(peer_of(sender))].settle(identifier, &ending, sink);
            }
            "CONNECT" | "SUBSCRIBE" | "UNSUBSCRIBE" | "PINGREQ" => {
                self.others.open(
                    sender,
                    frame.kind,
                    u32::from(identifier),
                    Mark::from_frame(frame),
                );
            }
            "CONNACK" => self.answer("CONNECT", frame, sink),
            "SUBACK" => self.answer("SUBSCRIBE", frame, sink),
            "UNSUBACK" => self.answer("UNSUBSCRIBE", frame, sink),
            "PINGRESP" => self.answer("PINGREQ", frame, sink),
            _ => {}
        }
    }

    fn answer(&mut self, request: &str, frame: &Frame<'_>, sink: &mut impl FnMut(&Latency)) {
        let Details::Mqtt(MqttPacket { identifier, .. }) = frame.details else { return };
        let ending = Ending::new(LatencyKind::Method, frame, 0);
        self.others.answer(frame.sender, (request, u32::from(identifier)), &ending, sink);
    }

    pub(super) fn lose(&mut self, sender: Side) {
        self.others.lose(sender);
        let published = &mut self.published[index(peer_of(sender))];
        published.is_deaf = true;
        published.unmatched.open += published.open.len() as u64;
        published.open.clear();
    }

    pub(super) fn find(&mut self, sender: Side) {
        self.others.find(sender);
        self.published[index(peer_of(sender))].is_deaf = false;
    }

    pub(super) fn unmatched(&self, kind: LatencyKind) -> Unmatched {
        match kind {
            LatencyKind::PublishToConfirm => self.published[0].unmatched(),
            LatencyKind::DeliverToAck => self.published[1].unmatched(),
            LatencyKind::Method => self.others.unmatched(),
            LatencyKind::PublishToConfirmAtLeast
            | LatencyKind::RequestToReply
            | LatencyKind::ServiceTime => Unmatched::default(),
        }
    }

    pub(super) const fn most_open(&self, sender: Side) -> u64 {
        self.published[index(sender)].most_open
    }
}

impl Published {
    /// Records a packet. A retransmitted packet counts from its first time.
    fn open(&mut self, identifier: u16, mark: Mark) {
        if self.is_deaf {
            self.unmatched.open += 1;
            return;
        }
        self.open.entry(identifier).or_insert(mark);
        self.most_open = self.most_open.max(self.open.len() as u64);
    }

    fn settle(&mut self, identifier: u16, ending: &Ending, sink: &mut impl FnMut(&Latency)) {
        match self.open.remove(&identifier) {
            Some(mark) => sink(&ending.since(mark)),
            None => self.unmatched.unknown_begin += 1,
        }
    }

    fn unmatched(&self) -> Unmatched {
        Unmatched { open: self.unmatched.open + self.open.len() as u64, ..self.unmatched }
    }
}

/// Returns the kind of latency that begins with a PUBLISH.
const fn kind_from(sender: Side) -> LatencyKind {
    match sender {
        Side::Client => LatencyKind::PublishToConfirm,
        Side::Broker => LatencyKind::DeliverToAck,
    }
}
