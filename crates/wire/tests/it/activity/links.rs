//! The recorded conversations of qpid-proton and rstream with RabbitMQ: `scripts/wire-clients.py`.

use super::heard::Heard;

mod broker {
    #![expect(dead_code, reason = "other tests use the other ports")]
    include!("../recorded/broker.rs");
}

const PROTON: &[u8] = include_bytes!("../recorded/proton.pcap");
const RSTREAM: &[u8] = include_bytes!("../recorded/rstream.pcap");

#[track_caller]
fn check(heard: &Heard, expected: &[(&str, usize)]) {
    for (words, count) in expected {
        let found = heard.events.matches(words).count();
        assert_eq!(found, *count, "{words}\n{}", heard.events);
    }
    let listed = |word: &[u8]| format!("{word:?}").trim_matches(['[', ']']).to_owned();
    for secret in [&b"body of a message"[..], broker::PASSWORD, b"guest\0"] {
        assert!(!heard.events.contains(&listed(secret)), "{}", String::from_utf8_lossy(secret));
    }
}

#[test]
fn messages_of_proton_have_their_links_and_outcomes() {
    let heard = Heard::in_file(PROTON, broker::AMQP);
    check(
        &heard,
        &[
            ("action: Attach", 2),
            ("action: Publish", 21),
            ("action: Deliver", 10),
            ("action: SettleRange", 24),
            // One message takes several transfers.
            ("body_bytes: 20400", 1),
            ("body_bytes: 17", 30),
        ],
    );
}

#[test]
fn messages_of_rstream_have_their_publishers_and_confirms() {
    let heard = Heard::in_file(RSTREAM, broker::STREAM);
    check(
        &heard,
        &[
            ("action: Attach", 2),
            ("action: Publish", 160),
            ("action: Chunk", 4),
            ("action: Credit", 4),
            ("body_bytes: 17", 160),
            ("of_entry: Some(10)", 10),
        ],
    );
}
