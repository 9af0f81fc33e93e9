//! Tests of a tracker's verdicts on one publisher's messages.

use super::{
    sequence_tracker::SequenceTracker,
    shortfall::{Delivery, DeliveryPoint, Shortfall},
};

const QUEUE: DeliveryPoint = DeliveryPoint { queue: 0, consumer: None, joins_late: false };
const OTHER: DeliveryPoint = DeliveryPoint { queue: 1, consumer: None, joins_late: false };

fn tracker_of(accepted: u64) -> SequenceTracker {
    let mut tracker = SequenceTracker::new(2);
    (0..accepted).for_each(|sequence| tracker.accept(sequence));
    tracker
}

fn receive(
    tracker: &mut SequenceTracker,
    point: DeliveryPoint,
    messages: impl IntoIterator<Item = u64>,
) {
    for sequence in messages {
        tracker.deliver(point, sequence, false);
    }
}

fn missing(missing: u64) -> Shortfall {
    Shortfall { missing, ..Shortfall::default() }
}

#[test]
fn all_that_arrives_is_fine() {
    let mut tracker = SequenceTracker::new(2);
    for sequence in 0..1000 {
        // The delivery may be seen before the confirm.
        assert_eq!(tracker.deliver(QUEUE, sequence, false), Delivery::Fine);
        tracker.accept(sequence);
    }
    assert_eq!((tracker.shortfall(false), tracker.accepted_count()), (missing(0), 1000));
    assert_eq!(tracker.shortfall_at(0, false, |_| true), Some(missing(0)));
    assert_eq!(tracker.shortfall_at(1, false, |_| true), None);
}

#[test]
fn what_does_not_arrive_is_missing_however_long_ago_it_was() {
    let mut tracker = SequenceTracker::new(2);
    for sequence in 0..10_000 {
        tracker.accept(sequence);
        if sequence % 1000 != 7 && sequence != 9_999 {
            tracker.deliver(QUEUE, sequence, false);
        }
    }
    assert_eq!(tracker.shortfall(false), missing(11));
    assert_eq!(tracker.shortfall_at(0, false, |_| true), Some(missing(11)));
}

#[test]
fn a_second_delivery_is_a_duplicate_unless_it_is_marked() {
    let mut tracker = tracker_of(10);
    let first = tracker.deliver(QUEUE, 3, false);
    assert_eq!((first, tracker.deliver(QUEUE, 3, true)), (Delivery::Fine, Delivery::Fine));
    assert_eq!(tracker.deliver(OTHER, 3, false), Delivery::Fine, "another queue has its own");
    let duplicate = |republished| Delivery::Duplicate { republished };
    assert_eq!(tracker.deliver(QUEUE, 3, false), duplicate(false));
    tracker.republish(3);
    assert_eq!(tracker.deliver(QUEUE, 3, false), duplicate(true));
    // Two threads may report a message in the wrong order.
    tracker.deliver(QUEUE, 4, true);
    assert_eq!(tracker.deliver(QUEUE, 4, false), Delivery::Fine);
}

#[test]
fn a_backlog_deeper_than_the_window_is_not_guessed() {
    let mut tracker = tracker_of(1000);
    for sequence in 0..990 {
        // The window begins with the row that has 896.
        let expected = if sequence < 896 { Delivery::Unchecked } else { Delivery::Fine };
        assert_eq!(tracker.deliver(QUEUE, sequence, false), expected, "{sequence}");
    }
    assert_eq!(tracker.shortfall(false), Shortfall { missing: 10, tail: 0, unjudged: 896 });
    // The number of missing deliveries is certain, although the messages are unknown.
    let mut tracker = tracker_of(1000);
    receive(&mut tracker, QUEUE, 96..1000);
    assert_eq!(tracker.shortfall(false), Shortfall { missing: 96, tail: 0, unjudged: 800 });
}

#[test]
fn every_queue_is_owed_its_own_copy() {
    let mut tracker = tracker_of(100);
    receive(&mut tracker, QUEUE, 0..100);
    receive(&mut tracker, OTHER, 0..90);
    assert_eq!(tracker.shortfall(false), missing(0));
    assert_eq!(tracker.shortfall_at(1, false, |_| true), Some(missing(10)));
}

#[test]
fn what_was_refused_returned_or_lost_on_the_way_is_not_missing() {
    let mut tracker = SequenceTracker::new(2);
    tracker.accept(0);
    tracker.take_back(0);
    tracker.deliver(QUEUE, 5, false);
    assert_eq!(tracker.shortfall(false), missing(0), "1 to 4 were never accepted");
}

#[test]
fn what_nobody_answered_is_neither_accepted_nor_lost() {
    let mut tracker = tracker_of(20);
    (20..32).for_each(|sequence| tracker.doubt(sequence));
    assert_eq!((tracker.accepted_count(), tracker.doubted_count()), (20, 12));
    assert_eq!(tracker.shortfall(false), Shortfall { missing: 20, tail: 0, unjudged: 12 });
    // A delivered message was accepted.
    receive(&mut tracker, QUEUE, (0..20).chain([21, 30]));
    assert_eq!((tracker.accepted_count(), tracker.doubted_count()), (22, 10));
    assert_eq!(
        tracker.shortfall_at(0, false, |_| true),
        Some(Shortfall { unjudged: 10, ..missing(0) })
    );
    // The counts stay the same when the messages leave the window.
    for sequence in 32..1000 {
        tracker.accept(sequence);
        tracker.deliver(QUEUE, sequence, false);
    }
    assert_eq!((tracker.accepted_count(), tracker.doubted_count()), (990, 10));
    assert_eq!(tracker.shortfall(false), Shortfall { unjudged: 10, ..missing(0) });
}

#[test]
fn a_stream_is_read_from_where_it_is_joined() {
    let stream = DeliveryPoint { queue: 0, consumer: Some(1), joins_late: true };
    let mut tracker = tracker_of(100);
    receive(&mut tracker, stream, (10..50).filter(|sequence| *sequence != 20));
    let expected = Shortfall { missing: 1, tail: 50, unjudged: 0 };
    assert_eq!((tracker.shortfall_at(0, true, |_| true), tracker.unjudged()), (Some(expected), 10));
    tracker.resubscribe(0, 1);
    tracker.deliver(stream, 60, false);
    assert_eq!(tracker.unjudged(), 20, "nobody was there for 50 to 59");
    assert_eq!(tracker.shortfall_at(0, true, |_| true).unwrap().missing, 1);
}

#[test]
fn a_stream_that_is_read_again_has_no_duplicates() {
    let stream = DeliveryPoint { queue: 0, consumer: Some(1), joins_late: false };
    let mut tracker = tracker_of(100);
    receive(&mut tracker, stream, 0..50);
    tracker.resubscribe(0, 1);
    assert_eq!(tracker.deliver(stream, 0, false), Delivery::ReadAgain);
    assert_eq!(tracker.deliver(stream, 50, false), Delivery::Fine);
    assert_eq!(tracker.deliver(stream, 50, false), Delivery::Duplicate { republished: false });
}

/// Messages of a super stream whose partitions are read at different speeds.
#[test]
fn what_a_slower_partition_may_have_is_not_lost() {
    let partition = |queue| DeliveryPoint { queue, consumer: Some(queue), joins_late: false };
    let mut tracker = tracker_of(100);
    receive(&mut tracker, partition(0), (0..100).filter(|sequence| sequence % 2 == 0));
    receive(
        &mut tracker,
        partition(1),
        (0..40).filter(|sequence| sequence % 2 == 1 && *sequence != 7),
    );
    let expected = Shortfall { missing: 1, tail: 30, unjudged: 0 };
    assert_eq!(tracker.shortfall(true), expected);
    // A second reader of a partition that stopped early hides no loss of the first one.
    let second = DeliveryPoint { consumer: Some(9), ..partition(0) };
    receive(&mut tracker, second, (0..10).filter(|sequence| sequence % 2 == 0));
    assert_eq!(tracker.shortfall(true), expected);
}
