//! The workspace's own client on a private broker, captured while it talks: tshark counts the same frames.
//! `scripts/compare-wire.sh` compares other clients.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use rabbitscope_amqp::{Request, Table, blocking};
use rabbitscope_testing::{connect, consume, encode_frame, own_broker};
use rabbitscope_wire::report::{LatencyKind, Side, Unmatched};

use super::captured::Captured;
use crate::{
    tools::{missing, not_run, output},
    traffic::{cannot_capture, start_capture, stop_capture},
};

const MESSAGES: u64 = 60;

#[test]
fn a_live_connection_counts_as_tshark_counts() {
    if let Some(reason) = cannot_capture().or_else(|| missing(&["tshark"])) {
        return not_run(&reason);
    }
    let broker = own_broker();
    let (uri, port) = (broker.uri(), broker.address().port());
    let password = broker.login().1.to_owned();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("live.pcap");
    let capture = start_capture(&file, port);
    talk(&uri).unwrap();
    stop_capture(capture);
    broker.take().stop();
    let captured = Captured::with_bytes().read(&fs::read(&file).unwrap(), &[port]).unwrap();
    assert_eq!((captured.skipped_bytes(), captured.losses), (0, 0));
    for kind in ["basic.publish", "header", "body", "basic.deliver"] {
        let count = captured.count(kind);
        let expected = if matches!(kind, "header" | "body") { 2 * MESSAGES } else { MESSAGES };
        assert_eq!(count, expected, "{kind}");
    }
    assert_eq!(captured.messages.len() as u64, 2 * MESSAGES);
    assert_eq!(by_type(&captured), tshark(&file, port));
    assert_eq!(captured.of_kind(LatencyKind::PublishToConfirm).count() as u64, MESSAGES);
    assert_eq!(captured.of_kind(LatencyKind::DeliverToAck).count() as u64, MESSAGES);
    for kind in [LatencyKind::PublishToConfirm, LatencyKind::DeliverToAck] {
        assert_eq!(captured.unmatched(kind), [Unmatched::default()], "{kind:?}");
    }
    check_secrets(&captured, password.as_bytes());
}

fn check_secrets(captured: &Captured, password: &[u8]) {
    let holds = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|window| window == word);
    assert!(captured.bytes.values().any(|bytes| holds(bytes, password)));
    for (connection, side) in captured.bytes.keys() {
        let blanked = captured.blanked(*connection, *side);
        assert!(!holds(&blanked, password) && !holds(&blanked, b"twelve bytes"), "{side:?}");
    }
}

fn talk(uri: &str) -> Result<(), blocking::ClientError> {
    let (mut client, channel) = connect(uri);
    let queue = "wire-live";
    let (passive, durable, exclusive, auto_delete) = (false, false, true, true);
    let arguments = &Table::default();
    let declare =
        Request::QueueDeclare { queue, passive, durable, exclusive, auto_delete, arguments };
    client.call(channel, &declare)?;
    client.call(channel, &Request::ConfirmSelect)?;
    let consume = consume(queue, arguments);
    client.call(channel, &consume)?;
    let (mut stream, ..) = client.into_parts();
    // Many publishes in one write, then each in a separate write.
    let publish = publish(channel);
    stream.write_all(&publish.repeat(30)).unwrap();
    for _ in 30..MESSAGES {
        stream.write_all(&publish).unwrap();
    }
    read_all(&mut stream);
    // Acknowledges all outstanding deliveries.
    stream
        .write_all(&encode_frame(1, channel, &[0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 1]))
        .unwrap();
    read_all(&mut stream);
    Ok(())
}

fn publish(channel: u16) -> Vec<u8> {
    let method = encode_frame(1, channel, b"\0\x3c\0\x28\0\0\0\x09wire-live\0");
    let header = encode_frame(2, channel, b"\0\x3c\0\0\0\0\0\0\0\0\0\x0c\0\0");
    [method, header, encode_frame(3, channel, b"twelve bytes")].concat()
}

/// Reads until nothing has arrived for a while.
fn read_all(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}

/// Counts methods, content headers, bodies and heartbeats, by side.
fn by_type(captured: &Captured) -> BTreeMap<(bool, u8), u64> {
    let mut counts = BTreeMap::new();
    for ((_, kind, side), count) in &captured.frames {
        let number = match *kind {
            "protocol-header" => continue,
            "header" => 2,
            "body" => 3,
            "heartbeat" => 8,
            _ => 1,
        };
        *counts.entry((*side == Side::Broker, number)).or_default() += count;
    }
    counts
}

fn tshark(file: &Path, port: u16) -> BTreeMap<(bool, u8), u64> {
    let arguments = format!("-d tcp.port=={port},amqp -T fields -e tcp.srcport -e amqp.type -r");
    let mut counts = BTreeMap::new();
    for line in output("tshark", &arguments, &[file]).lines() {
        let (from, types) = line.split_once('\t').unwrap();
        for number in types.split(',').filter(|number| !number.is_empty()) {
            let is_from_broker = from == port.to_string();
            *counts.entry((is_from_broker, number.parse().unwrap())).or_default() += 1;
        }
    }
    counts
}
