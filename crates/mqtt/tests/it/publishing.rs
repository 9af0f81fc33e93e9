//! Messages to the broker, byte by byte.

use rabbitscope_mqtt::{
    Blank, Connection, Content, Properties, QualityOfService, Template, Topic, Version,
};
use rabbitscope_protocol::Encoded as _;

use crate::broker::{opened, written};

const BODY: &[u8] = b"0123456789ab";

fn topic(quality: QualityOfService, version: Version) -> Topic {
    Topic::new("nine-char", quality, version)
}

/// Publishes `count` messages with the same body.
fn publish(connection: &mut Connection, template: &Template, count: usize) -> Vec<u8> {
    let mut filled = 0;
    for body in connection.publish(template, count) {
        body.copy_from_slice(BODY);
        filled += 1;
    }
    assert_eq!(filled, count);
    written(connection)
}

#[test]
fn a_message_of_twelve_bytes_has_these_bytes() {
    let check = |quality, version, expected: &[u8]| {
        let mut connection = opened(version);
        let template = Template::new(topic(quality, version), 12);
        assert_eq!(template.wire_size(), expected.len());
        assert_eq!(publish(&mut connection, &template, 1), expected);
        let mut connection = opened(version);
        connection.publish_content(&topic(quality, version), &Content::new(&[0; 12]), BODY);
        assert_eq!(written(&mut connection), expected, "encoded now");
    };
    let (once, acknowledged) = (QualityOfService::AtMostOnce, QualityOfService::AtLeastOnce);
    let expected = b"\x30\x17\0\x09nine-char0123456789ab";
    assert_eq!(expected.len(), 25);
    check(once, Version::V3, expected);
    let expected = b"\x32\x19\0\x09nine-char\0\x010123456789ab";
    assert_eq!(expected.len(), 27);
    check(acknowledged, Version::V3, expected);
    let expected = b"\x30\x18\0\x09nine-char\x000123456789ab";
    assert_eq!(expected.len(), 26);
    check(once, Version::V5, expected);
    let expected = b"\x32\x1a\0\x09nine-char\0\x01\x000123456789ab";
    assert_eq!(expected.len(), 28);
    check(acknowledged, Version::V5, expected);
}

#[test]
fn an_alias_stands_for_the_topic_from_its_second_message_on() {
    let topic = topic(QualityOfService::AtLeastOnce, Version::V5).with_alias(2);
    let template = Template::new(topic.clone(), 12);
    let first = b"\x32\x1d\0\x09nine-char\0\x01\x03\x23\0\x020123456789ab";
    let next = |number: u8| {
        let head = [0x32, 20, 0, 0, 0, number, 3, 0x23, 0, 2];
        [&head[..], BODY].concat()
    };
    assert_eq!((next(2).len(), template.wire_size()), (22, 22));
    let mut connection = opened(Version::V5);
    let all = [&first[..], &next(2), &next(3)].concat();
    assert_eq!(publish(&mut connection, &template, 0), b"");
    assert_eq!(publish(&mut connection, &template, 3), all);
    assert_eq!(publish(&mut connection, &template, 2), [next(4), next(5)].concat());
    connection.publish_content(&topic, &Content::new(&[0; 12]), BODY);
    assert_eq!(written(&mut connection), next(6));
    assert_eq!(publish(&mut opened(Version::V5), &template, 1), first, "on each connection");
}

/// A head goes into the last property, two digits for each byte, and the body stays as it is.
#[test]
fn properties_precede_the_body() {
    let blank = Some(Blank { name: "s".to_owned(), size: 2 });
    let properties =
        Properties { content_type: Some("t".to_owned()), blank, ..Properties::default() };
    let topic = topic(QualityOfService::AtLeastOnce, Version::V5).with_properties(&properties);
    let encoded = b"\x03\0\x01t\x26\0\x01s\0\x04ab01";
    let mut connection = opened(Version::V5);
    let content = Content::unchanged(b"body", 2);
    assert_eq!((content.head_room(), content.body_size()), (2, 4));
    connection.publish_content(&topic, &content, b"\xab\x01");
    let head = b"\x32\x20\0\x09nine-char\0\x01\x0e";
    assert_eq!(written(&mut connection), [&head[..], encoded, b"body"].concat());
    connection.publish_content(&topic.clone().with_alias(1), &content, b"\xab\x01");
    let head = b"\x32\x23\0\x09nine-char\0\x02\x11\x23\0\x01";
    assert_eq!(written(&mut connection), [&head[..], encoded, b"body"].concat());
    assert_eq!(topic.packet_size(4), 2 + 0x20);
}

#[test]
fn an_alias_that_the_broker_does_not_take_is_left_out() {
    let plain = topic(QualityOfService::AtLeastOnce, Version::V5);
    let mut connection = opened(Version::V5);
    let template = Template::new(plain.clone().with_alias(3), 12);
    let with = publish(&mut connection, &template, 2);
    assert_eq!(with.len(), 2 * 28);
    let without = publish(&mut opened(Version::V5), &Template::new(plain, 12), 2);
    assert_eq!(with, without);
    let old = topic(QualityOfService::AtLeastOnce, Version::V3).with_alias(1);
    assert_eq!(publish(&mut opened(Version::V3), &Template::new(old, 12), 2).len(), 2 * 27);
}

#[test]
fn the_size_of_a_packet_is_known_before_it_is_encoded() {
    for (version, alias) in [(Version::V3, 0), (Version::V5, 0), (Version::V5, 1)] {
        for size in [0, 12, 100, 127, 128, 16_360, 16_384, 300_000] {
            let topic = topic(QualityOfService::AtLeastOnce, version).with_alias(alias);
            let mut connection = opened(version);
            connection.publish_content(&topic, &Content::new(&vec![0; size]), b"");
            assert_eq!(written(&mut connection).len(), topic.packet_size(size), "{size}");
        }
    }
}

#[test]
fn a_head_that_is_longer_than_the_body_is_left_out() {
    let mut connection = opened(Version::V3);
    let topic = Topic::new("t", QualityOfService::AtMostOnce, Version::V3);
    connection.publish_content(&topic, &Content::new(b"short"), BODY);
    assert_eq!(written(&mut connection), b"\x30\x08\0\x01tshort");
}

#[test]
fn topics_are_bytes_of_utf8() {
    let mut connection = opened(Version::V3);
    let topic = Topic::new("a ü/b", QualityOfService::AtMostOnce, Version::V3);
    connection.publish_content(&topic, &Content::new(b""), b"");
    assert_eq!(written(&mut connection), b"\x30\x08\0\x06a \xc3\xbc/b");
}

#[test]
fn requests_have_these_bytes() {
    let quality = QualityOfService::AtLeastOnce;
    let mut three = opened(Version::V3);
    assert_eq!(three.subscribe(&["a/+", "b"], quality), 1);
    assert_eq!(written(&mut three), b"\x82\x0c\0\x01\0\x03a/+\x01\0\x01b\x01");
    assert_eq!((three.unsubscribe(), three.unsubscribe()), (Some(2), None));
    assert_eq!(written(&mut three), b"\xa2\x0a\0\x02\0\x03a/+\0\x01b");
    let mut five = opened(Version::V5);
    assert_eq!(five.subscribe(&["a"], QualityOfService::AtMostOnce), 1);
    assert_eq!(written(&mut five), b"\x82\x07\0\x01\0\0\x01a\0");
    assert_eq!(five.unsubscribe(), Some(2));
    assert_eq!(written(&mut five), b"\xa2\x06\0\x02\0\0\x01a");
    five.acknowledge(0x1234);
    assert_eq!(written(&mut five), b"\x40\x02\x12\x34");
}
