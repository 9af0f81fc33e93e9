//! Recorded connections give the expected events.

use std::borrow::Cow;

use rabbitscope_amqp::{Event, Properties, Reply};

use crate::play;

const CONTROL: &[u8] = include_bytes!("recorded/control.bin");
const PUBLISHER: &[u8] = include_bytes!("recorded/publisher.bin");
const CONSUMER: &[u8] = include_bytes!("recorded/consumer.bin");

/// Bytes of `connection.close-ok`, which these tests do not request.
const GOODBYE: usize = 12;

/// Returns the events as text. All sizes of reads must agree.
fn events(bytes: &[u8]) -> Vec<String> {
    let bytes = &bytes[..bytes.len() - GOODBYE];
    let read = |piece: usize| {
        let mut events = Vec::new();
        play(bytes, piece, |event| events.push(format!("{event:?}"))).unwrap();
        events
    };
    let whole = read(bytes.len());
    for piece in 1..200 {
        assert_eq!(read(piece), whole, "in pieces of {piece}");
    }
    whole
}

#[test]
fn a_missing_queue_is_a_value_and_the_next_channel_works() {
    let events = events(CONTROL);
    assert_eq!(events[..2], ["Opened", "ChannelOpened { channel: 1 }"]);
    assert_eq!(
        events[2],
        "ChannelClosed { channel: 1, refusal: Some(Refusal { code: 404, text: \"NOT_FOUND - no \
         queue 'r' in vhost '/'\", class_id: 50, method_id: 10 }) }"
    );
    let declared = Reply::QueueDeclared { queue: "r".to_owned(), messages: 0, consumers: 0 };
    assert_eq!(events[3], "ChannelOpened { channel: 1 }");
    assert_eq!(events[4], format!("Reply {{ channel: 1, reply: {declared:?} }}"));
    assert_eq!(events.len(), 5);
}

#[test]
fn the_broker_says_who_it_is_and_agrees_on_limits() {
    let connection = play(&CONTROL[..CONTROL.len() - GOODBYE], 4096, |_| {}).unwrap();
    let properties = connection.server_properties();
    assert_eq!(properties.text("product"), Some("RabbitMQ"));
    assert_eq!(properties.text("version"), Some("3.10.8"));
    assert_eq!(properties.text("platform"), Some("Erlang/OTP 25.2.3"));
    let limits = connection.limits();
    assert_eq!((limits.channel_max, limits.frame_max), (2047, 131_072));
    assert_eq!(limits.heartbeat.unwrap().as_secs(), 60);
}

#[test]
fn confirms() {
    let events = events(PUBLISHER);
    assert_eq!(events[2], "Reply { channel: 1, reply: ConfirmsSelected }");
    let confirms: Vec<_> = (1..=5)
        .map(|tag| format!("Confirm {{ channel: 1, tag: {tag}, multiple: false, accepted: true }}"))
        .collect();
    assert_eq!(events[3..], confirms);
}

#[test]
fn deliveries() {
    events(CONSUMER);
    let mut tags = Vec::new();
    let bytes = &CONSUMER[..CONSUMER.len() - GOODBYE];
    play(bytes, bytes.len(), |event| {
        let Event::Delivery(delivery) = event else { return };
        tags.push(delivery.delivery_tag);
        assert_eq!((&*delivery.consumer_tag, &*delivery.routing_key), (&b"0"[..], &b"r"[..]));
        assert_eq!((delivery.body.len(), delivery.redelivered), (12, false));
        assert!(matches!(delivery.body, Cow::Borrowed(_)), "nothing is copied");
        let properties = Properties::parse(&delivery.properties).unwrap();
        assert_eq!(properties, Properties::with_delivery_mode(false));
    })
    .unwrap();
    assert_eq!(tags, [1, 2, 3, 4, 5]);
}
