//! Deliveries of AMQP 0-9-1 and their acknowledgements.

use super::script::Script;
use crate::{
    protocols::{Consume, ContentHeader, Details, Protocol},
    report::{
        LatencyKind::{DeliverToAck, Method},
        Side,
    },
};

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

/// The first message was requested without acknowledgements. The request is read before or after its answer.
#[test]
fn a_message_whose_request_was_not_seen_is_not_settled_with_others() {
    let mut script = Script::new(Protocol::Amqp091);
    let get = |auto_ack| Details::Consume(Consume { consumer_tag: None, auto_ack, no_wait: false });
    script.deliver_with(2, 1, None, ContentHeader::default(), 0);
    script.at(1, Side::Client, "basic.get", get(true));
    script.at(3, Side::Client, "basic.get", get(false)).clear();
    script.deliver_with(4, 2, None, ContentHeader::default(), 0).clear();
    script.settle(6, Side::Client, 2, true).check(&[(DeliverToAck, 2, 4, 6)]);
    // It is acknowledged individually, so it needed an acknowledgement.
    script.deliver_with(7, 3, None, ContentHeader::default(), 0).clear();
    script.settle(9, Side::Client, 3, false).check(&[(DeliverToAck, 2, 7, 9)]);
    script.check_unmatched(DeliverToAck, [0; 4]);
}
