//! Bytes that no broker sends.

use rabbitscope_mqtt::{QualityOfService, Template, Topic, Version};

use crate::broker::{feed, opened};

fn refused(version: Version, bytes: &[u8]) -> String {
    feed(&mut opened(version), bytes, usize::MAX, |_| {}).unwrap_err().to_string()
}

#[test]
fn wrong_packets_are_errors() {
    let check = |version, bytes: &[u8], expected: &str| {
        let error = refused(version, bytes);
        assert!(error.contains(expected), "{error}");
    };
    check(Version::V3, b"\x30\xff\xff\xff\xff", "a length that is cut off or malformed");
    check(Version::V3, b"\xd0\x80\x80\x10", "a packet of 262148 bytes without a message");
    check(Version::V3, b"\x40\x02\0\x01", "acknowledged packet 1, which is not outstanding");
    check(Version::V3, b"\x40\x02\0\0", "acknowledged packet 0");
    check(Version::V3, b"\x40\x01\0", "a packet that is cut off");
    check(Version::V3, b"\x90\x03\0\x01\0", "acknowledged packet 1");
    check(Version::V3, b"\x34\x05\0\x01t\0\x01", "begins with 0x34");
    check(Version::V3, b"\x32\x04\0\x01t\0", "a message that is cut off");
    check(Version::V3, b"\x30\x03\0\x02t", "a message that is cut off");
    check(Version::V3, b"\xe0\0", "begins with 0xe0");
    check(Version::V5, b"\x30\x04\0\x01t\x02", "a message that is cut off");
    check(Version::V5, b"\xe0\x04\x80\x02\x7f\0", "a packet that is cut off");
}

#[test]
fn an_answer_to_a_request_is_no_confirm() {
    let mut connection = opened(Version::V3);
    let request = connection.subscribe(&["a"], QualityOfService::AtLeastOnce);
    let error = feed(&mut connection, b"\x40\x02\0\x01", usize::MAX, |_| {}).unwrap_err();
    assert!(request == 1 && error.to_string().contains("acknowledged packet 1"), "{error}");
}

#[test]
fn any_bytes_end_in_events_or_an_error() {
    let mut random = 7_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        u8::try_from(random >> 56).unwrap()
    };
    for version in [Version::V3, Version::V5] {
        let topic = Topic::new("t", QualityOfService::AtLeastOnce, version);
        let template = Template::new(topic, 0);
        for first in [0x20, 0x30, 0x32, 0x3b, 0x40, 0x90, 0xb0, 0xd0, 0xe0, 0xf0] {
            for length in 0..120 {
                let content: Vec<u8> = (0..length).map(|_| next() & 0x8f).collect();
                let bytes = [&[first, length][..], &content].concat();
                let mut connection = opened(version);
                assert_eq!(connection.publish(&template, 50).count(), 50);
                // Only a panic would be wrong.
                let _ = feed(&mut connection, &bytes, usize::from(next()) + 1, |_| {});
            }
        }
    }
}
