//! Publishes of AMQP 0-9-1 and their confirms: with numbers, without them, around gaps.

use super::script::Script;
use crate::{
    packet::Timestamp,
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
    // For several at once the number itself is certain; the others may have been confirmed before.
    script.check(&[(PublishToConfirmAtLeast, 9, 11, 20), (PublishToConfirmAtLeast, 9, 41, 50)]);
    // No silence proves that all is confirmed.
    script.publish(1110).settle(1120, Side::Broker, 504, false);
    script.check(&[(PublishToConfirmAtLeast, 9, 1111, 1120)]);
    script.check_unmatched(PublishToConfirm, [0, 0, 3, 0]);
    // After the channel is opened again, the first publish is 1.
    script.open().select().publish(1200).settle(1210, Side::Broker, 1, false);
    script.check(&[(PublishToConfirm, 9, 1201, 1210)]);
}

/// Two messages were published before the capture and are confirmed in it. The bounds of later ones are too short. They
/// are right as soon as all is confirmed for a moment.
#[test]
fn without_numbers_no_latency_is_too_long() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(10).publish(20).settle(25, Side::Broker, 501, false);
    script.settle(26, Side::Broker, 502, false);
    // In truth they confirm publishes before the first one.
    script.check(&[(PublishToConfirmAtLeast, 4, 21, 25), (PublishToConfirmAtLeast, 5, 21, 26)]);
    script.settle(40, Side::Broker, 504, true).check(&[(PublishToConfirmAtLeast, 19, 21, 40)]);
    script.publish(50).settle(70, Side::Broker, 505, false);
    script.check(&[(PublishToConfirmAtLeast, 19, 51, 70)]);
}

/// A single confirm falls on a later publish than its own. A later confirm of several says nothing about that one.
#[test]
fn what_may_be_confirmed_already_is_not_measured_again() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(10).publish(20).publish(30).settle(32, Side::Broker, 501, false);
    script.check(&[(PublishToConfirmAtLeast, 1, 31, 32)]);
    script.publish(40).publish(50).settle(5_000, Side::Broker, 505, true);
    script.check(&[(PublishToConfirmAtLeast, 4_949, 51, 5_000)]);
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

/// The broker has publishes that the capture lacks; its confirms in the meantime may be for these.
#[test]
fn confirms_of_publishes_that_were_not_seen_say_nothing() {
    let mut script = Script::new(Protocol::Amqp091);
    script.publish(10).settle(11, Side::Broker, 501, false).clear();
    script.publish(20).behind(Side::Client, true);
    // It confirms a publish that is seen only later.
    script.settle(5_000, Side::Broker, 503, false).check(&[]);
    script.publish(5_010).behind(Side::Client, false);
    // It confirms the publish above.
    script.settle(5_020, Side::Broker, 502, false).check(&[]);
    script.publish(5_030).settle(5_040, Side::Broker, 504, false);
    script.check(&[(PublishToConfirmAtLeast, 9, 5_031, 5_040)]);
}

/// Frames after an abandoned hole are read later than they arrived.
#[test]
fn confirms_behind_a_hole_have_no_time() {
    let mut script = Script::new(Protocol::Amqp091);
    script.open().select().publish(10).publish(20).gap(Side::Broker, 9_000);
    script.settle(9_000, Side::Broker, 1, false).check(&[]);
    script.settle(9_001, Side::Broker, 2, false).check(&[(PublishToConfirm, 8_980, 21, 9_001)]);
    script.check_unmatched(PublishToConfirm, [0, 1, 0, 0]);
}

/// Turns are known in the middle of a connection, where publishes have no numbers.
#[test]
fn turns_need_no_numbers() {
    let mut script = Script::new(Protocol::Amqp091);
    // The body of a publish comes a millisecond after the method.
    for (tag, millis) in [(501, 10), (502, 30), (503, 50)] {
        script.publish(millis).settle(millis + 16, Side::Broker, tag, false);
    }
    let turns = script.exchanges.turns();
    let millis = |nanos: u64| nanos / 1_000_000;
    assert_eq!((turns.count, millis(turns.wait_nanos), millis(turns.pause_nanos)), (2, 30, 10));
    script.exchanges.gap(Side::Broker, Timestamp::from_unix_nanos(70_000_000));
    script.publish(90).publish(92);
    assert_eq!(script.exchanges.turns().count, 2);
}
