//! A capture that begins in the middle of connections: its deliveries have the same latencies as in the whole
//! capture.

use std::{
    fs::File,
    io::{BufReader, BufWriter},
    path::Path,
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, find, holds};
use rabbitscope_wire::{
    capture::{PacketReader, PacketWriter},
    packet::{LinkType, Packet, Timestamp},
};
use serde_json::Value;

use super::{
    client::Client,
    looking::{look, quiet_broker, stop},
};

/// Rounds before the cut, and as many after it.
const ROUNDS: usize = 15;
/// Messages of a round that are unacknowledged at the same time.
const BURST: usize = 10;
const DELIVERED: u64 = (ROUNDS * BURST) as u64;

#[test]
fn deliveries_of_a_cut_capture_take_as_long_as_in_the_whole_one() {
    let Some(bench) = Workbench::for_root("cut-capture") else { return };
    let broker = quiet_broker();
    let amqp = broker.address().port();
    let looking = look(&bench, &format!("--port {amqp} --duration 60s -o whole.pcapng"));
    let (client, marker) = deliver(broker);
    stop(looking);
    let packets = read(&bench.path("whole.pcapng"));
    let place =
        packets.iter().rposition(|packet| holds(&packet.data, marker.as_bytes())).unwrap() + 1;
    let of = |name: &str, part: &[Kept]| {
        write(&bench.path(name), part);
        let said = bench.rabbitscope(&format!("packets --pcap {name} --port {amqp} --json"));
        deliveries(&said.code(0).json(), client)
    };
    let whole = of("again.pcapng", &packets);
    assert_eq!((whole.count, whole.unmatched), (2 * DELIVERED, [0; 2]));
    // At this place, no message is unacknowledged.
    let (first, second) = (of("1.pcapng", &packets[..place]), of("2.pcapng", &packets[place..]));
    assert_eq!((first.count, first.unmatched), (DELIVERED, [0; 2]));
    assert_eq!((second.count, second.unmatched), (DELIVERED, [0; 2]));
    let sum = first.sum + second.sum;
    assert!((whole.sum - sum).abs() < whole.sum * 1e-9, "{whole:?} of {first:?} and {second:?}");
    assert_eq!(whole.min, first.min.min(second.min));
    assert_eq!(whole.max, first.max.max(second.max));
    // A cut in the middle of a round: deliveries from before the cut are neither measured nor forgotten.
    for place in [place + packets[place..].len() / 2, place + packets[place..].len() / 3] {
        let (first, second) =
            (of("3.pcapng", &packets[..place]), of("4.pcapng", &packets[place..]));
        let [open, _] = first.unmatched;
        let [_, begun_before] = second.unmatched;
        assert_eq!(open, begun_before, "{first:?} {second:?}");
        assert_eq!(first.count + open + second.count, whole.count);
        assert!(second.min >= whole.min && second.max <= whole.max && second.count > 0);
    }
}

/// Takes messages in bursts and acknowledges them one by one. Returns the port, and the text that marks the middle on
/// the wire.
fn deliver(broker: &Broker) -> (u16, String) {
    let mut client = Client::connect(broker, true);
    let queue = client.declare("cut");
    client.prefetch(u16::try_from(BURST).unwrap());
    client.consume(&queue, false);
    let messages = Client::publish(&queue, &[7; 40]).concat().repeat(BURST);
    let rounds = |client: &mut Client| {
        for _ in 0..ROUNDS {
            client.write(&messages);
            for _ in 0..BURST {
                let tag = client.delivery();
                client.ack(tag, false);
            }
        }
    };
    rounds(&mut client);
    let marker = client.declare("between-the-halves");
    rounds(&mut client);
    client.declare("end");
    (client.local_port(), marker)
}

/// A packet of the file.
struct Kept {
    time: Timestamp,
    link: LinkType,
    length: u32,
    data: Vec<u8>,
}

fn read(file: &Path) -> Vec<Kept> {
    let mut reader = PacketReader::new(BufReader::new(File::open(file).unwrap())).unwrap();
    let mut packets = Vec::new();
    while let Some(Packet { time, link, length, data, .. }) = reader.next().unwrap() {
        packets.push(Kept { time, link, length, data: data.to_vec() });
    }
    packets
}

fn write(file: &Path, packets: &[Kept]) {
    let mut writer =
        PacketWriter::new(BufWriter::new(File::create(file).unwrap()), "test").unwrap();
    let interface = writer.interface(packets[0].link, 0, "captured").unwrap();
    for (number, Kept { time, link, length, data }) in (1..).zip(packets) {
        let packet = Packet { number, time: *time, link: *link, length: *length, data };
        writer.packet(interface, &packet, None).unwrap();
    }
    writer.finish().unwrap();
}

/// Latencies of a connection from delivery to acknowledgement.
#[derive(Debug)]
struct Deliveries {
    count: u64,
    /// Mean times count, in nanoseconds.
    sum: f64,
    min: u64,
    max: u64,
    /// Deliveries that are still open, and those that began before.
    unmatched: [u64; 2],
}

fn deliveries(report: &Value, client: u16) -> Deliveries {
    let client = format!("127.0.0.1:{client}");
    let ours = find(&report["connections"], "client", &client);
    let found = find(&ours["latencies"], "kind", "deliver-to-ack");
    let number = |value: &Value| value.as_u64().unwrap();
    let count = number(&found["count"]);
    Deliveries {
        count,
        sum: found["mean"].as_f64().unwrap() * count as f64,
        min: number(&found["min"]),
        max: number(&found["max"]),
        unmatched: ["open", "unknown-begin"].map(|why| number(&found["unmatched"][why])),
    }
}
