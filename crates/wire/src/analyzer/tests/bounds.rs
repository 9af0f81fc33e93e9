//! Latencies of confirms are never too long, even if packets of the capture are missing, cut, doubled or reordered.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    super::{AnalyzerOptions, reading::Analyzer},
    capture::{BROKER, Made, Random, Talk, ack, content, method, publish},
};
use crate::{
    exchanges::Latency,
    report::{LatencyKind, Side},
};

const CAPTURES: u64 = 10_000;
const STEPS: u64 = 40;

/// The true times of publishes and confirms, by number, in nanoseconds, and the packets in which they end.
#[derive(Debug, Default)]
struct Truth {
    published: BTreeMap<u64, u64>,
    confirmed: BTreeMap<u64, u64>,
    publish_packets: BTreeMap<u64, u64>,
    confirm_packets: BTreeMap<u64, u64>,
}

impl Truth {
    fn latency(&self, number: u64) -> u64 {
        self.confirmed[&number] - self.published[&number]
    }

    /// Returns the true duration of a measured latency.
    fn duration(&self, latency: &Latency) -> Option<u64> {
        let number = match latency.kind {
            LatencyKind::PublishToConfirm => self.publish_packets.get(&latency.first_packet),
            LatencyKind::PublishToConfirmAtLeast => self.confirm_packets.get(&latency.last_packet),
            _ => return None,
        };
        number.map(|number| self.latency(*number))
    }
}

/// A publisher with confirms, and a broker that confirms independently, one by one and several at once.
struct Load {
    random: Random,
    talk: Talk,
    truth: Truth,
    next: u64,
    unconfirmed: BTreeSet<u64>,
    /// The rest of a publish, to be sent later.
    rest: Vec<u8>,
}

impl Load {
    fn new(seed: u64) -> Self {
        let mut talk = Talk::new();
        talk.send(Side::Client, b"AMQP\0\0\x09\x01");
        talk.send(Side::Broker, &method(0, (10, 10), &[0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        talk.send(Side::Client, &method(1, (20, 10), &[0]));
        talk.send(Side::Broker, &method(1, (20, 11), &[0, 0, 0, 0]));
        talk.send(Side::Client, &method(1, (85, 10), &[0]));
        talk.send(Side::Broker, &method(1, (85, 11), &[]));
        let (truth, rest) = (Truth::default(), Vec::new());
        Self { random: Random(seed), talk, truth, next: 1, unconfirmed: BTreeSet::new(), rest }
    }

    fn play(mut self) -> (Vec<Made>, Truth) {
        for _ in 0..STEPS {
            let pause = if self.random.one_in(12) { 2_000_000_000 } else { 3_000_000 };
            let pause = self.random.below(pause);
            self.talk.wait(pause);
            match self.random.below(10) {
                0..=4 => self.publish(),
                5..=7 => self.confirm(),
                8 => self.deliver(),
                _ => drop(self.talk.segment(Side::Client, 0x10, &[])),
            }
        }
        (self.talk.packets, self.truth)
    }

    fn publish(&mut self) {
        let body = 1 + self.random.index(60);
        let mut bytes = std::mem::take(&mut self.rest);
        let is_whole = bytes.is_empty();
        if is_whole {
            bytes = publish(1, body);
        }
        if is_whole && self.random.one_in(4) {
            self.rest = bytes.split_off(1 + self.random.index(bytes.len() - 1));
            self.talk.send(Side::Client, &bytes);
            return;
        }
        let packet = self.talk.send(Side::Client, &bytes);
        self.truth.published.insert(self.next, self.talk.nanos);
        self.truth.publish_packets.insert(packet, self.next);
        self.unconfirmed.insert(self.next);
        self.next += 1;
    }

    /// Confirms like RabbitMQ: all below the first unconfirmed one at once, the others one by one.
    fn confirm(&mut self) {
        let share = 1 + self.random.below(3);
        let now: BTreeSet<u64> =
            self.unconfirmed.iter().copied().filter(|_| self.random.one_in(share)).collect();
        self.unconfirmed.retain(|number| !now.contains(number));
        let first_open = self.unconfirmed.first().copied().unwrap_or(u64::MAX);
        let (together, alone): (Vec<u64>, Vec<u64>) =
            now.into_iter().partition(|number| *number < first_open);
        if let Some(last) = together.last() {
            self.settle(*last, true, &together);
        }
        for number in alone {
            self.settle(number, false, &[number]);
        }
    }

    fn settle(&mut self, tag: u64, multiple: bool, numbers: &[u64]) {
        let packet = self.talk.send(Side::Broker, &ack(1, tag, multiple));
        self.truth.confirm_packets.insert(packet, tag);
        for number in numbers {
            self.truth.confirmed.insert(*number, self.talk.nanos);
        }
    }

    /// Delivers a message to the client in two packets, so that a hole may lie within a body.
    fn deliver(&mut self) {
        let tag = 1_000_000 + self.next;
        let head = [&b"\x01t"[..], &tag.to_be_bytes(), &[0, 0, 1, b'q']].concat();
        let bytes = [method(2, (60, 60), &head), content(2, 300)].concat();
        let at = 80 + self.random.index(200);
        self.talk.send(Side::Broker, &bytes[..at]);
        self.talk.send(Side::Broker, &bytes[at..]);
    }
}

/// Drops, cuts, doubles and reorders packets. Each keeps its number and its time.
fn harm(random: &mut Random, packets: &mut Vec<Made>) {
    if random.one_in(2) {
        packets.drain(..random.index(packets.len() / 2));
    }
    let rarity = [3, 10, 30, 1_000][random.index(4)];
    packets.retain(|_| !random.one_in(rarity));
    for at in 0..packets.len() {
        let other = (at + 1 + random.index(4)).min(packets.len() - 1);
        match random.below(rarity * 4) {
            0 => packets.swap(at, other),
            1 => packets.insert(other, packets[at].clone()),
            2 => packets[at].snap(random.index(30)),
            _ => {}
        }
    }
}

fn measured(packets: &[Made]) -> Vec<Latency> {
    let options = AnalyzerOptions { ports: vec![BROKER], ..AnalyzerOptions::new("made") };
    let mut analyzer = Analyzer::new(options);
    for packet in packets {
        analyzer.packet(&packet.packet());
    }
    analyzer.into_measured()
}

#[test]
fn no_confirm_is_said_to_take_longer_than_it_took() {
    let (mut exact, mut bounds) = (0, 0);
    for seed in 0..CAPTURES {
        let (mut packets, truth) = Load::new(seed).play();
        harm(&mut Random(!seed), &mut packets);
        for latency in measured(&packets) {
            let Some(took) = truth.duration(&latency) else { continue };
            assert!(latency.nanos <= took, "seed {seed}: {latency:?}, which took {took} ns");
            match latency.kind {
                LatencyKind::PublishToConfirm => exact += 1,
                _ => bounds += 1,
            }
        }
    }
    assert!(exact > 10_000 && bounds > 10_000, "{exact} exact, {bounds} bounds");
}

#[test]
fn a_whole_capture_has_every_latency_as_it_is() {
    for seed in 0..200 {
        let (packets, truth) = Load::new(seed).play();
        let measured = measured(&packets);
        for latency in &measured {
            assert!(
                truth.duration(latency).is_none_or(|took| took == latency.nanos),
                "{seed}: {latency:?}"
            );
        }
        let confirms =
            measured.iter().filter(|latency| latency.kind == LatencyKind::PublishToConfirm);
        assert_eq!(confirms.count(), truth.confirmed.len(), "seed {seed}");
    }
}
