//! Packet identifiers: they wrap, and answers come in any order.

use rabbitscope_mqtt::{Connection, Event, QualityOfService, Template, Topic, Version};

use crate::broker::{feed, opened, written};

fn template() -> Template {
    Template::new(Topic::new("t", QualityOfService::AtLeastOnce, Version::V3), 0)
}

/// Publishes messages, and returns their identifiers.
fn publish(connection: &mut Connection, count: usize) -> Vec<u16> {
    assert_eq!(connection.publish(&template(), count).count(), count);
    let packets = written(connection);
    packets.chunks(7).map(|packet| u16::from_be_bytes([packet[5], packet[6]])).collect()
}

/// Feeds acknowledgements, and returns the positions of their messages.
fn acknowledge(connection: &mut Connection, identifiers: &[u16]) -> Vec<u64> {
    let packets: Vec<u8> = identifiers
        .iter()
        .flat_map(|identifier| [&[0x40, 2][..], &identifier.to_be_bytes()].concat())
        .collect();
    let mut positions = Vec::new();
    feed(connection, &packets, 4096, |event| {
        let Event::Confirmed { first, last, .. } = event else { panic!("{event:?}") };
        positions.extend(*first..=*last);
    })
    .unwrap();
    positions
}

#[test]
fn identifiers_wrap_twice_and_positions_go_on() {
    let mut connection = opened(Version::V3);
    let mut next = 1;
    for round in 0..140 {
        let mut identifiers = publish(&mut connection, 1000);
        assert_eq!(connection.room(), 65_535 - 1000);
        // Every other round is answered from its end.
        let mut expected: Vec<u64> = (next..next + 1000).collect();
        if round % 2 == 1 {
            identifiers.reverse();
            expected.reverse();
        }
        assert_eq!(acknowledge(&mut connection, &identifiers), expected, "{round}");
        next += 1000;
    }
    assert_eq!((connection.room(), next), (65_535, 140_001));
}

#[test]
fn an_identifier_in_use_is_skipped_until_its_answer() {
    let mut connection = opened(Version::V3);
    let held = publish(&mut connection, 3);
    assert_eq!(held, [1, 2, 3]);
    for _ in 0..130 {
        let identifiers = publish(&mut connection, 1000);
        assert!(identifiers.iter().all(|identifier| !held.contains(identifier)));
        acknowledge(&mut connection, &identifiers);
    }
    assert_eq!(acknowledge(&mut connection, &[2, 3, 1]), [2, 3, 1]);
    assert_eq!(connection.room(), 65_535);
}

#[test]
fn all_identifiers_may_be_in_use() {
    let mut connection = opened(Version::V3);
    let mut identifiers = publish(&mut connection, 65_535);
    assert_eq!(connection.room(), 0);
    assert_eq!(acknowledge(&mut connection, &[40_000]), [40_000]);
    assert_eq!(publish(&mut connection, 1), [40_000]);
    identifiers.sort_unstable();
    assert_eq!(identifiers, (1..=65_535).collect::<Vec<u16>>());
    let last = acknowledge(&mut connection, &[40_000, 65_535]);
    assert_eq!(last, [65_536, 65_535]);
}
