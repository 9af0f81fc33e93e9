//! Prints the contents of a capture file, as lines that `scripts/compare-wire.sh` compares with tshark. It also
//! measures the speed of the dissectors.
//!
//! ```text
//! frames FILE PORTS kinds      count and kind of frames
//! frames FILE PORTS settled    packets of a confirm or acknowledgement, and of the last frame of its message
//! frames FILE PORTS messages   packets of the method and of the last frame of each message of AMQP 0-9-1
//! frames FILE PORTS latencies  kind, sender of the first frame, count, median in microseconds, unmatched
//! frames bench                 nanoseconds per publish of three frames in packets of 200 bytes
//! ```
#![expect(clippy::print_stdout, reason = "an example talks to its user")]

#[path = "../tests/it/dissectors/captured.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod captured;

use std::{collections::BTreeMap, env, error::Error, fs, hint::black_box, time::Instant};

use captured::Captured;
use rabbitscope_wire::{
    exchanges::{Exchanges, Replies},
    packet::Timestamp,
    protocols::{Conversation, Frame, FrameSink, Loss, Skipped},
    report::{LatencyKind, Side, Unmatched},
    stream::Chunk,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, ports, what] = arguments.as_slice() else {
        bench();
        return Ok(());
    };
    let ports = ports.split(',').map(str::parse).collect::<Result<Vec<u16>, _>>()?;
    let captured = Captured::default().read(&fs::read(file)?, &ports)?;
    match what.as_str() {
        "settled" => settled(&captured),
        "messages" => messages(&captured),
        "latencies" => latencies(&captured),
        _ => kinds(&captured),
    }
    Ok(())
}

fn kinds(captured: &Captured) {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for ((_, kind, _), count) in &captured.frames {
        *kinds.entry(*kind).or_default() += count;
    }
    for (kind, count) in kinds {
        println!("{count} {kind}");
    }
}

fn settled(captured: &Captured) {
    for kind in [LatencyKind::PublishToConfirm, LatencyKind::DeliverToAck] {
        for latency in captured.of_kind(kind) {
            println!("{} {}", latency.last_packet, latency.first_packet);
        }
    }
}

fn messages(captured: &Captured) {
    for (method, last) in &captured.messages {
        println!("{method} {last}");
    }
}

fn latencies(captured: &Captured) {
    let kinds = [
        LatencyKind::PublishToConfirm,
        LatencyKind::DeliverToAck,
        LatencyKind::RequestToReply,
        LatencyKind::Method,
    ];
    for kind in kinds {
        for from in [Side::Client, Side::Broker] {
            let of_side = captured.of_kind(kind).filter(|latency| latency.from == from);
            let mut nanos: Vec<u64> = of_side.map(|latency| latency.nanos).collect();
            nanos.sort_unstable();
            let Some(median) = nanos.get(nanos.len() / 2) else { continue };
            println!("{kind:?} {from:?} {} {}", nanos.len(), median / 1000);
        }
        let unmatched = captured.unmatched(kind);
        let sum = |count: fn(&Unmatched) -> u64| unmatched.iter().map(count).sum::<u64>();
        println!(
            "{kind:?} unmatched: {} open, {} unknown, {} without number, {} left out",
            sum(|counts| counts.open),
            sum(|counts| counts.unknown_begin),
            sum(|counts| counts.unknown_number),
            sum(|counts| counts.left_out),
        );
    }
    println!("skipped {} bytes, lost {} times", captured.skipped_bytes(), captured.losses);
}

const PUBLISHES: u32 = 400_000;

/// Returns a publish of 12 bytes to the default exchange with a key of 9 bytes, as the load generator writes it: 69
/// bytes.
fn publish() -> Vec<u8> {
    let mut bytes = vec![1, 0, 1, 0, 0, 0, 18, 0, 60, 0, 40, 0, 0, 0, 9];
    bytes.extend_from_slice(b"benchmark\0\xce");
    bytes.extend_from_slice(&[
        2, 0, 1, 0, 0, 0, 15, 0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 16, 0, 2, 0xce,
    ]);
    bytes.extend_from_slice(&[3, 0, 1, 0, 0, 0, 12]);
    bytes.extend_from_slice(b"twelve bytes\xce");
    bytes
}

fn bench() {
    let publishes = publish().repeat(PUBLISHES as usize);
    let confirms: Vec<u8> = (1..=u64::from(PUBLISHES))
        .flat_map(|tag| {
            [&[1, 0, 1, 0, 0, 0, 13, 0, 60, 0, 80][..], &tag.to_be_bytes(), &[0, 0xce]].concat()
        })
        .collect();
    let open = b"AMQP\0\0\x09\x01\x01\0\x01\0\0\0\x05\0\x14\0\x0a\0\xce\x01\0\x01\0\0\0\x05\0\x55\0\x0a\0\xce";
    for packet in [200, 1448, 65_483] {
        let mut counted = Counted::default();
        let mut conversation = Conversation::default();
        feed(&mut conversation, Side::Client, open, (0, packet), &mut counted);
        let begin = Instant::now();
        let offset = open.len() as u64;
        let both = publishes.chunks(69 * 1000).zip(confirms.chunks(21 * 1000));
        for (number, (publishes, confirms)) in (0..).zip(both) {
            let at = (offset + number * 69_000, packet);
            feed(&mut conversation, Side::Client, publishes, at, &mut counted);
            let at = (number * 21_000, packet);
            feed(&mut conversation, Side::Broker, confirms, at, &mut counted);
        }
        let nanos = begin.elapsed().as_nanos();
        let bits = (publishes.len() + confirms.len()) as f64 * 8.0;
        println!(
            "packets of {packet} B: {:.0} ns for a publish and its confirm, {:.2} Gbit/s, {} frames, {} latencies",
            nanos as f64 / f64::from(PUBLISHES),
            bits / nanos as f64,
            counted.frames,
            counted.latencies,
        );
        black_box(&counted.frames);
    }
}

fn feed(
    conversation: &mut Conversation,
    sender: Side,
    bytes: &[u8],
    (offset, packet_bytes): (u64, usize),
    counted: &mut Counted,
) {
    for (number, part) in bytes.chunks(packet_bytes).enumerate() {
        let offset = offset + (number * packet_bytes) as u64;
        let (segment_start, segment_end) = (offset, offset + part.len() as u64);
        let (time, packet) = (Timestamp::from_unix_nanos(offset), offset + 1);
        let chunk = Chunk { bytes: part, offset, time, packet, segment_start, segment_end };
        conversation.chunk(sender, &chunk, counted);
    }
}

#[derive(Default)]
struct Counted {
    exchanges: Exchanges,
    replies: Replies,
    frames: u64,
    latencies: u64,
}

impl FrameSink for Counted {
    fn frame(&mut self, frame: &Frame<'_>) {
        self.frames += 1;
        let latencies = &mut self.latencies;
        self.exchanges.frame(frame, &mut self.replies, &mut |_| *latencies += 1);
    }

    fn lost(&mut self, loss: &Loss) {
        self.exchanges.lost(loss);
    }

    fn found(&mut self, skipped: &Skipped) {
        self.exchanges.found(skipped);
    }
}
