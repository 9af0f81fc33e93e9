//! A publisher's book with a window of two rows: 128 messages.

use super::*;

const QUEUE: Outlet = Outlet { place: 0, consumer: None, joins_late: false };
const OTHER: Outlet = Outlet { place: 1, consumer: None, joins_late: false };

fn book(accepted: u64) -> Book {
    let mut book = Book::new(2);
    (0..accepted).for_each(|sequence| book.accept(sequence));
    book
}

fn receive(book: &mut Book, outlet: Outlet, messages: impl IntoIterator<Item = u64>) {
    for sequence in messages {
        book.deliver(outlet, sequence, false);
    }
}

fn missing(missing: u64) -> Shortfall {
    Shortfall { missing, ..Shortfall::default() }
}

#[test]
fn all_that_arrives_is_fine() {
    let mut book = Book::new(2);
    for sequence in 0..1000 {
        // The delivery may be seen before the confirm.
        assert_eq!(book.deliver(QUEUE, sequence, false), Delivery::Fine);
        book.accept(sequence);
    }
    assert_eq!((book.shortfall(false), book.accepted_count()), (missing(0), 1000));
    assert_eq!(book.shortfall_at(0, false), Some(missing(0)));
    assert_eq!(book.shortfall_at(1, false), None);
}

#[test]
fn what_does_not_arrive_is_missing_however_long_ago_it_was() {
    let mut book = Book::new(2);
    for sequence in 0..10_000 {
        book.accept(sequence);
        if sequence % 1000 != 7 && sequence != 9_999 {
            book.deliver(QUEUE, sequence, false);
        }
    }
    assert_eq!(book.shortfall(false), missing(11));
    assert_eq!(book.shortfall_at(0, false), Some(missing(11)));
}

#[test]
fn a_second_delivery_is_a_duplicate_unless_it_is_marked() {
    let mut book = book(10);
    let first = book.deliver(QUEUE, 3, false);
    assert_eq!((first, book.deliver(QUEUE, 3, true)), (Delivery::Fine, Delivery::Fine));
    assert_eq!(book.deliver(OTHER, 3, false), Delivery::Fine, "another queue has its own");
    let duplicate = |republished| Delivery::Duplicate { republished };
    assert_eq!(book.deliver(QUEUE, 3, false), duplicate(false));
    book.republish(3);
    assert_eq!(book.deliver(QUEUE, 3, false), duplicate(true));
    // Two threads may tell of a message in the wrong order.
    book.deliver(QUEUE, 4, true);
    assert_eq!(book.deliver(QUEUE, 4, false), Delivery::Fine);
}

#[test]
fn a_backlog_deeper_than_the_window_is_not_guessed() {
    let mut book = book(1000);
    for sequence in 0..990 {
        // The window begins with the row that has 896.
        let expected = if sequence < 896 { Delivery::Unchecked } else { Delivery::Fine };
        assert_eq!(book.deliver(QUEUE, sequence, false), expected, "{sequence}");
    }
    assert_eq!(book.shortfall(false), Shortfall { missing: 10, tail: 0, unjudged: 896 });
    // Deliveries that never come are certain, although nobody knows which.
    let mut book = super::tests::book(1000);
    receive(&mut book, QUEUE, 96..1000);
    assert_eq!(book.shortfall(false), Shortfall { missing: 96, tail: 0, unjudged: 800 });
}

#[test]
fn every_queue_is_owed_its_own_copy() {
    let mut book = book(100);
    receive(&mut book, QUEUE, 0..100);
    receive(&mut book, OTHER, 0..90);
    assert_eq!(book.shortfall(false), missing(0));
    assert_eq!(book.shortfall_at(1, false), Some(missing(10)));
}

#[test]
fn what_was_refused_returned_or_lost_on_the_way_is_not_missing() {
    let mut book = Book::new(2);
    book.accept(0);
    book.take_back(0);
    book.deliver(QUEUE, 5, false);
    assert_eq!(book.shortfall(false), missing(0), "1 to 4 were never accepted");
    let mut book = super::tests::book(20);
    book.doubt_before(12);
    assert_eq!(book.shortfall(false), Shortfall { missing: 8, tail: 0, unjudged: 12 });
}

#[test]
fn a_stream_is_read_from_where_it_is_joined() {
    let stream = Outlet { place: 0, consumer: Some(1), joins_late: true };
    let mut book = book(100);
    receive(&mut book, stream, (10..50).filter(|sequence| *sequence != 20));
    let expected = Shortfall { missing: 1, tail: 50, unjudged: 0 };
    assert_eq!((book.shortfall_at(0, true), book.unjudged()), (Some(expected), 10));
    book.resubscribe(0, 1);
    book.deliver(stream, 60, false);
    assert_eq!(book.unjudged(), 20, "nobody was there for 50 to 59");
    assert_eq!(book.shortfall_at(0, true).unwrap().missing, 1);
}

#[test]
fn a_stream_that_is_read_again_has_no_duplicates() {
    let stream = Outlet { place: 0, consumer: Some(1), joins_late: false };
    let mut book = book(100);
    receive(&mut book, stream, 0..50);
    book.resubscribe(0, 1);
    assert_eq!(book.deliver(stream, 0, false), Delivery::ReadAgain);
    assert_eq!(book.deliver(stream, 50, false), Delivery::Fine);
    assert_eq!(book.deliver(stream, 50, false), Delivery::Duplicate { republished: false });
}
