//! Publishes of AMQP 0-9-1 and their confirms: with numbers, without them, around gaps.

use super::script::Script;
use crate::{
    protocols::Protocol,
    report::{
        LatencyKind::{DeliverToAck, PublishToConfirm, PublishToConfirmAtLeast},
        Side,
    },
};

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
