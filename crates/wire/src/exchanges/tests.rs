//! Scripts of frames and the latencies that follow from them. Times are milliseconds, and packets have their numbers.

use crate::{
    exchanges::{Exchanges, Latency, Replies},
    packet::Timestamp,
    protocols::{
        Consume, ContentHeader, Delivery, Details, Disposition, Frame, IdentifierRun, Loss,
        Outcome, Place, Protocol, Publish, Settlement, Skipped, StreamCommand, StreamPublish,
        Transfer,
    },
    report::{
        LatencyKind::{
            self, DeliverToAck, Method, PublishToConfirm, PublishToConfirmAtLeast, RequestToReply,
        },
        Side, Unmatched,
    },
};

const MILLISECOND: u64 = 1_000_000;

/// A connection, and what was measured on it: kind, milliseconds, first and last packet.
struct Script {
    exchanges: Exchanges,
    replies: Replies,
    protocol: Protocol,
    measured: Vec<(LatencyKind, u64, u64, u64)>,
    names: Vec<(&'static str, Side)>,
}

impl Script {
    fn new(protocol: Protocol) -> Self {
        let (exchanges, replies) = (Exchanges::new(1), Replies::default());
        Self { exchanges, replies, protocol, measured: Vec::new(), names: Vec::new() }
    }

    /// The packet's number is that of the millisecond.
    fn at(&mut self, millis: u64, sender: Side, kind: &'static str, details: Details) -> &mut Self {
        self.with_ids(millis, sender, kind, details, &[])
    }

    fn with_ids(
        &mut self,
        millis: u64,
        sender: Side,
        kind: &'static str,
        details: Details,
        identifiers: &[IdentifierRun],
    ) -> &mut Self {
        let place = Place {
            start: 0,
            end: 8,
            first_packet: millis,
            last_packet: millis,
            begins_segment: true,
            ends_segment: true,
            time: Timestamp::from_unix_nanos(millis * MILLISECOND),
            missing_bytes: 0,
        };
        let (protocol, channel) = (self.protocol, 1);
        let frame = Frame { sender, protocol, channel, kind, place, details, identifiers };
        let (measured, names) = (&mut self.measured, &mut self.names);
        self.exchanges.frame(&frame, &mut self.replies, &mut |it: &Latency| {
            measured.push((it.kind, it.nanos / MILLISECOND, it.first_packet, it.last_packet));
            names.push((it.name, it.from));
        });
        self
    }

    fn method(
        &mut self,
        millis: u64,
        sender: Side,
        kind: &'static str,
        number: (u16, u16),
    ) -> &mut Self {
        self.at(millis, sender, kind, Details::Method { number, no_wait: false })
    }

    fn open(&mut self) -> &mut Self {
        self.method(0, Side::Client, "channel.open", (20, 10));
        self.method(0, Side::Broker, "channel.open-ok", (20, 11));
        self.clear()
    }

    fn select(&mut self) -> &mut Self {
        self.method(0, Side::Client, "confirm.select", (85, 10));
        self.method(0, Side::Broker, "confirm.select-ok", (85, 11));
        self.clear()
    }

    fn clear(&mut self) -> &mut Self {
        self.measured.clear();
        self.names.clear();
        self
    }

    /// Method and header at one time, body a millisecond later.
    fn publish(&mut self, millis: u64) -> &mut Self {
        self.publish_with(millis, ContentHeader { body_bytes: 9, ..ContentHeader::default() }, 0)
    }

    fn publish_with(&mut self, millis: u64, header: ContentHeader, routing_key: u64) -> &mut Self {
        let publish =
            Publish { exchange_bytes: 0, routing_key_bytes: 1, routing_key, mandatory: false };
        self.at(millis, Side::Client, "basic.publish", Details::Publish(publish));
        self.content(millis, Side::Client, header)
    }

    fn content(&mut self, millis: u64, sender: Side, header: ContentHeader) -> &mut Self {
        self.at(millis, sender, "header", Details::Header(header));
        match u32::try_from(header.body_bytes).unwrap() {
            0 => self,
            bytes => self.at(millis + 1, sender, "body", Details::Body(bytes)),
        }
    }

    fn deliver(&mut self, millis: u64, tag: u64) -> &mut Self {
        self.deliver_with(millis, tag, Some(7), ContentHeader::default(), 0)
    }

    fn deliver_with(
        &mut self,
        millis: u64,
        delivery_tag: u64,
        consumer_tag: Option<u64>,
        header: ContentHeader,
        routing_key: u64,
    ) -> &mut Self {
        let delivery = Delivery {
            consumer_tag,
            delivery_tag,
            redelivered: false,
            exchange_bytes: 0,
            routing_key_bytes: 0,
            routing_key,
            is_direct_reply: false,
        };
        self.at(millis, Side::Broker, "basic.deliver", Details::Delivery(delivery));
        self.content(millis, Side::Broker, header)
    }

    fn settle(&mut self, millis: u64, sender: Side, tag: u64, multiple: bool) -> &mut Self {
        let settlement = Settlement { tag, multiple, outcome: Outcome::Accepted };
        self.at(millis, sender, "basic.ack", Details::Settlement(settlement))
    }

    fn lose(&mut self, sender: Side) -> &mut Self {
        self.exchanges.lost(&Loss { sender, offset: 0, time: Timestamp::default() });
        self
    }

    fn find(&mut self, sender: Side) -> &mut Self {
        self.exchanges.found(&Skipped { sender, range: 0..1, time: Timestamp::default() });
        self
    }

    #[track_caller]
    fn check(&mut self, expected: &[(LatencyKind, u64, u64, u64)]) -> &mut Self {
        assert_eq!(self.measured, expected);
        self.clear()
    }

    #[track_caller]
    fn check_unmatched(&self, kind: LatencyKind, expected: [u64; 4]) {
        let [open, unknown_begin, unknown_number, left_out] = expected;
        let expected = Unmatched { open, unknown_begin, unknown_number, left_out };
        assert_eq!(self.exchanges.unmatched(kind), expected);
    }
}

#[test]
fn confirms_of_one_and_of_many() {
    let mut script = Script::new(Protocol::Amqp091);
    script.open().publish(1).select();
    for millis in [10, 20, 30, 40] {
        script.publish(millis);
    }
    script.settle(50, Side::Broker, 3, false).check(&[(PublishToConfirm, 19, 31, 50)]);
    script.settle(60, Side::Broker, 4, true);
    script.check(&[
        (PublishToConfirm, 49, 11, 60),
        (PublishToConfirm, 39, 21, 60),
        (PublishToConfirm, 19, 41, 60),
    ]);
    script.publish(70).settle(71, Side::Broker, 3, false).check(&[]);
    script.check_unmatched(PublishToConfirm, [1, 1, 0, 0]);
    assert_eq!(script.exchanges.most_unconfirmed(), 4);
}

#[test]
fn numbers_are_unknown_in_the_middle_of_a_connection() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(10).settle(20, Side::Broker, 501, false).publish(30).publish(40);
    script.settle(50, Side::Broker, 503, true);
    script.check(&[
        (PublishToConfirmAtLeast, 9, 11, 20),
        (PublishToConfirmAtLeast, 19, 31, 50),
        (PublishToConfirmAtLeast, 9, 41, 50),
    ]);
    // Nothing is unconfirmed now, but that is known only when it stays so.
    script.publish(100).settle(110, Side::Broker, 504, false);
    script.check(&[(PublishToConfirmAtLeast, 9, 101, 110)]);
    script.publish(1110).settle(1120, Side::Broker, 505, false);
    script.check(&[(PublishToConfirm, 9, 1111, 1120)]);
    script.check_unmatched(PublishToConfirm, [0, 0, 3, 0]);
    assert_eq!(script.exchanges.concluded_channels(), 1);
    // What contradicts it makes them unknown again.
    script.publish(1200).settle(1210, Side::Broker, 600, false).check(&[]);
    script.check_unmatched(PublishToConfirm, [1, 0, 4, 0]);
}

/// Two were published before the capture and are confirmed in it. What is said of those after them is too short, and right
/// as soon as nothing is unconfirmed for a moment.
#[test]
fn without_numbers_no_latency_is_too_long() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(10).publish(20).settle(25, Side::Broker, 501, false);
    script.settle(26, Side::Broker, 502, false);
    // In truth they were for publishes before the first one.
    script.check(&[(PublishToConfirmAtLeast, 4, 21, 25)]);
    script.settle(40, Side::Broker, 504, true).check(&[(PublishToConfirmAtLeast, 29, 11, 40)]);
    script.publish(50).settle(70, Side::Broker, 505, false);
    script.check(&[(PublishToConfirmAtLeast, 19, 51, 70)]);
}

#[test]
fn silence_proves_nothing_while_confirms_are_owed() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(1).settle(2, Side::Broker, 501, false).publish(3);
    script.publish(2000).settle(2001, Side::Broker, 502, false);
    script.check(&[(PublishToConfirmAtLeast, 0, 2, 2), (PublishToConfirmAtLeast, 1997, 4, 2001)]);
    script.check_unmatched(PublishToConfirm, [0, 0, 2, 0]);
}

#[test]
fn acknowledgements_of_deliveries() {
    let mut script = Script::new(Protocol::Amqp091);
    script.settle(1, Side::Client, 100, false);
    for tag in 101..=104 {
        script.deliver(tag, tag);
    }
    script.settle(110, Side::Client, 102, false).check(&[(DeliverToAck, 8, 102, 110)]);
    script.settle(111, Side::Client, 103, true);
    script.check(&[(DeliverToAck, 10, 101, 111), (DeliverToAck, 8, 103, 111)]);
    script.settle(112, Side::Client, 0, true).check(&[(DeliverToAck, 8, 104, 112)]);
    script.check_unmatched(DeliverToAck, [0, 1, 0, 0]);
    assert_eq!(script.exchanges.most_unacknowledged(), 4);
}

#[test]
fn deliveries_without_acknowledgements_are_not_waited_for() {
    let mut script = Script::new(Protocol::Amqp091);
    let consume = |consumer_tag, auto_ack| {
        Details::Consume(Consume { consumer_tag, auto_ack, no_wait: false })
    };
    script.open();
    script.at(1, Side::Client, "basic.consume", consume(None, true));
    script.at(2, Side::Client, "basic.consume", consume(Some(8), false));
    script.at(3, Side::Broker, "basic.consume-ok", consume(Some(7), false));
    script.at(4, Side::Broker, "basic.consume-ok", consume(Some(8), false));
    script.check(&[(Method, 2, 1, 3), (Method, 2, 2, 4)]);
    script.deliver_with(5, 1, Some(7), ContentHeader::default(), 0);
    script.deliver_with(6, 2, Some(8), ContentHeader::default(), 0);
    script.at(7, Side::Client, "basic.get", consume(None, true));
    script.deliver_with(8, 3, None, ContentHeader::default(), 0);
    script.check_unmatched(DeliverToAck, [1, 0, 0, 0]);
}

#[test]
fn the_oldest_is_dropped_when_too_many_are_open() {
    let mut script = Script::new(Protocol::Amqp091);
    script.deliver(1, 1).settle(1, Side::Client, 1, false).clear();
    for tag in 2..=65_547 {
        script.deliver(tag, tag);
    }
    script.check_unmatched(DeliverToAck, [65_536, 0, 0, 10]);
    script.settle(70_000, Side::Client, 12, true).check(&[(DeliverToAck, 69_988, 12, 70_000)]);
}

#[test]
fn who_never_acknowledges_does_not_have_to() {
    let mut script = Script::new(Protocol::Amqp091);
    for tag in 1..=70_000 {
        script.deliver(tag, tag);
    }
    script.check_unmatched(DeliverToAck, [0, 0, 0, 0]);
    assert_eq!(script.exchanges.most_unacknowledged(), 0);
}

#[test]
fn a_gap_leaves_no_wrong_latency() {
    let mut script = Script::new(Protocol::Amqp091);
    script.open().select().publish(1).deliver(2, 1);
    script.lose(Side::Broker).publish(3).find(Side::Broker).publish(5);
    script.settle(10, Side::Broker, 3, true).check(&[(PublishToConfirm, 4, 6, 10)]);
    script.lose(Side::Client).find(Side::Client);
    script.settle(20, Side::Client, 1, false).publish(30).settle(40, Side::Broker, 4, false);
    script.check(&[(PublishToConfirmAtLeast, 9, 31, 40)]);
    script.check_unmatched(PublishToConfirm, [2, 0, 1, 0]);
    script.check_unmatched(DeliverToAck, [1, 1, 0, 0]);
}

#[test]
fn synchronous_methods_in_both_directions() {
    let mut script = Script::new(Protocol::Amqp091);
    script.method(1, Side::Client, "queue.declare", (50, 10));
    let no_wait = Details::Method { number: (50, 10), no_wait: true };
    script.at(2, Side::Client, "queue.declare", no_wait);
    script.method(3, Side::Client, "queue.bind", (50, 20));
    script.method(4, Side::Broker, "queue.declare-ok", (50, 11));
    script.method(5, Side::Broker, "queue.bind-ok", (50, 21));
    script.method(6, Side::Broker, "channel.close", (20, 40));
    script.method(8, Side::Client, "channel.close-ok", (20, 41));
    script.method(9, Side::Client, "basic.get", (60, 70));
    script.method(10, Side::Broker, "basic.get-empty", (60, 72));
    script.method(11, Side::Broker, "queue.purge-ok", (50, 31));
    assert_eq!(script.names[2], ("channel.close-ok", Side::Broker));
    script.check(&[(Method, 3, 1, 4), (Method, 2, 3, 5), (Method, 2, 6, 8), (Method, 1, 9, 10)]);
    script.check_unmatched(Method, [0, 1, 0, 0]);
}

#[test]
fn requests_and_replies_from_both_ends() {
    let mut script = Script::new(Protocol::Amqp091);
    let header = |reply_to| ContentHeader {
        correlation_id: Some(5),
        reply_to,
        is_read: true,
        ..ContentHeader::default()
    };
    script.publish_with(1, header(Some(77)), 3);
    script.deliver_with(2, 1, Some(7), header(Some(77)), 3);
    script.publish_with(5, header(None), 77);
    script.deliver_with(6, 2, Some(8), header(None), 77);
    assert_eq!(
        script.names.iter().map(|name| name.1).collect::<Vec<_>>(),
        [Side::Broker, Side::Client]
    );
    script.check(&[(RequestToReply, 3, 2, 5), (RequestToReply, 5, 1, 6)]);
    script.publish_with(7, header(Some(77)), 3);
    assert_eq!(script.replies.unmatched().open, 1);
}

#[test]
fn transfers_and_dispositions() {
    let mut script = Script::new(Protocol::Amqp10);
    let transfer = |delivery_id, more, settled| {
        Details::Transfer(Transfer {
            handle: 0,
            delivery_id,
            delivery_tag_bytes: None,
            settled,
            more,
            aborted: false,
            payload_bytes: 1,
        })
    };
    let disposition = |is_receiver, first, last| {
        let (settled, outcome) = (true, Some(Outcome::Accepted));
        Details::Disposition(Disposition { is_receiver, first, last, settled, outcome })
    };
    script.at(1, Side::Client, "transfer", transfer(Some(0), true, false));
    script.at(2, Side::Client, "transfer", transfer(None, false, false));
    script.at(3, Side::Client, "transfer", transfer(Some(1), false, true));
    script.at(4, Side::Client, "transfer", transfer(Some(2), false, false));
    script.at(5, Side::Broker, "transfer", transfer(Some(0), false, false));
    script.at(6, Side::Client, "disposition", disposition(false, 0, 2)).check(&[]);
    script.at(7, Side::Broker, "disposition", disposition(true, 0, u32::MAX));
    script.check(&[(PublishToConfirm, 5, 2, 7), (PublishToConfirm, 3, 4, 7)]);
    script.at(8, Side::Client, "disposition", disposition(true, 0, 0));
    script.check(&[(DeliverToAck, 3, 5, 8)]);
}

#[test]
fn publishing_ids_of_streams() {
    let mut script = Script::new(Protocol::RabbitmqStream);
    let publish = |entries| {
        Details::StreamPublish(StreamPublish { publisher: 1, entries, messages: 1, left_out: 0 })
    };
    let run = |first, count| IdentifierRun { first, count };
    script.with_ids(1, Side::Client, "publish", publish(2), &[run(5, 2)]);
    script.with_ids(2, Side::Client, "publish", publish(1), &[run(9, 1)]);
    script.with_ids(3, Side::Broker, "publish-confirm", publish(2), &[run(6, 1), run(9, 1)]);
    script.check(&[(PublishToConfirm, 2, 1, 3), (PublishToConfirm, 1, 2, 3)]);
    script.check_unmatched(PublishToConfirm, [1, 0, 0, 0]);
    let command = |is_response| {
        let correlation = Some(3);
        Details::StreamCommand(StreamCommand { key: 21, version: 1, is_response, correlation })
    };
    script.at(4, Side::Client, "open", command(false));
    script.at(6, Side::Broker, "open-response", command(true)).check(&[(Method, 2, 4, 6)]);
}

#[test]
fn packets_of_mqtt() {
    let mut script = Script::new(Protocol::Mqtt);
    let packet = |quality_of_service, identifier| Details::Mqtt { quality_of_service, identifier };
    script.at(1, Side::Client, "PUBLISH", packet(0, 0));
    script.at(2, Side::Client, "PUBLISH", packet(1, 8));
    script.at(3, Side::Broker, "PUBLISH", packet(2, 8));
    script.at(4, Side::Broker, "PUBACK", packet(0, 8)).check(&[(PublishToConfirm, 2, 2, 4)]);
    script.at(5, Side::Client, "PUBREC", packet(0, 8)).check(&[(DeliverToAck, 2, 3, 5)]);
    script.at(6, Side::Client, "PINGREQ", packet(0, 0));
    script.at(7, Side::Broker, "PINGRESP", packet(0, 0)).check(&[(Method, 1, 6, 7)]);
    script.at(8, Side::Broker, "PUBACK", packet(0, 8)).check(&[]);
    script.check_unmatched(PublishToConfirm, [0, 1, 0, 0]);
}
