//! Two ends that talk over TCP, as a capture near the broker sees them.

use crate::{
    packet::{LinkType, Packet, Timestamp},
    report::Side,
    segment::TcpFlags,
};

pub(super) const CLIENT: u16 = 40_000;
pub(super) const BROKER: u16 = 5_672;
const HEADERS: usize = 40;

/// A reproducible generator of pseudo-random numbers (Vigna's splitmix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    pub(super) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap()
    }

    pub(super) fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}

/// A packet of the capture.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) number: u64,
    pub(super) nanos: u64,
    pub(super) length: u32,
    pub(super) data: Vec<u8>,
}

impl Made {
    pub(super) fn packet(&self) -> Packet<'_> {
        Packet {
            number: self.number,
            time: Timestamp::from_unix_nanos(self.nanos),
            link: LinkType::Raw,
            length: self.length,
            data: &self.data,
        }
    }

    /// Keeps the headers and the next `payload` bytes.
    pub(super) fn snap(&mut self, payload: usize) {
        self.data.truncate(HEADERS + payload);
    }
}

/// A connection, and its packets.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub(super) packets: Vec<Made>,
    pub(super) nanos: u64,
    /// Next sequence number of the client, and of the broker.
    next: [u32; 2],
}

impl Talk {
    /// Opens a connection, with its handshake.
    pub(super) fn new() -> Self {
        let mut talk =
            Self { nanos: 1_000_000_000, next: [7_000, u32::MAX - 300], ..Self::default() };
        talk.segment(Side::Client, TcpFlags::SYN, &[]);
        talk.segment(Side::Broker, TcpFlags::SYN | TcpFlags::ACK, &[]);
        talk.segment(Side::Client, TcpFlags::ACK, &[]);
        talk
    }

    pub(super) fn wait(&mut self, nanos: u64) -> &mut Self {
        self.nanos += nanos;
        self
    }

    pub(super) fn send(&mut self, from: Side, payload: &[u8]) -> u64 {
        self.segment(from, TcpFlags::ACK | TcpFlags::PSH, payload)
    }

    /// Sends a segment, which acknowledges everything that the other end has sent. Returns the number of its packet.
    pub(super) fn segment(&mut self, from: Side, flags: u8, payload: &[u8]) -> u64 {
        let (own, peer) = (from as usize, 1 - from as usize);
        let (sequence, acknowledgement) = (self.next[own], self.next[peer]);
        let taken = u32::from(flags & (TcpFlags::SYN | TcpFlags::FIN) != 0);
        self.next[own] = sequence.wrapping_add(u32::try_from(payload.len()).unwrap() + taken);
        let data = bytes(from, (sequence, acknowledgement), flags, payload);
        self.nanos += 1_000;
        let number = self.packets.len() as u64 + 1;
        let length = u32::try_from(data.len()).unwrap();
        self.packets.push(Made { number, nanos: self.nanos, length, data });
        number
    }
}

fn bytes(
    from: Side,
    (sequence, acknowledgement): (u32, u32),
    flags: u8,
    payload: &[u8],
) -> Vec<u8> {
    let length = u16::try_from(HEADERS + payload.len()).unwrap().to_be_bytes();
    let [client, broker] = [([192, 0, 2, 1], CLIENT), ([192, 0, 2, 2], BROKER)];
    let (own, peer) = if from == Side::Client { (client, broker) } else { (broker, client) };
    [
        &[0x45, 0, length[0], length[1], 0, 0, 0, 0, 64, 6, 0, 0][..],
        &own.0,
        &peer.0,
        &own.1.to_be_bytes(),
        &peer.1.to_be_bytes(),
        &sequence.to_be_bytes(),
        &acknowledgement.to_be_bytes(),
        &[0x50, flags, 0xff, 0xff, 0, 0, 0, 0],
        payload,
    ]
    .concat()
}

/// Returns a method of AMQP 0-9-1.
pub(super) fn method(channel: u16, (class, method): (u16, u16), arguments: &[u8]) -> Vec<u8> {
    frame(1, channel, &[&class.to_be_bytes()[..], &method.to_be_bytes(), arguments].concat())
}

pub(super) fn frame(kind: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&[kind][..], &channel.to_be_bytes(), &length, payload, &[0xce]].concat()
}

/// Returns header and body of a message.
pub(super) fn content(channel: u16, body: usize) -> Vec<u8> {
    let header = [&[0, 60, 0, 0][..], &(body as u64).to_be_bytes(), &[0, 0]].concat();
    [frame(2, channel, &header), frame(3, channel, &vec![7; body])].concat()
}

/// Returns `basic.publish` to the default exchange, with its content.
pub(super) fn publish(channel: u16, body: usize) -> Vec<u8> {
    [method(channel, (60, 40), b"\0\0\0\x01q\0"), content(channel, body)].concat()
}

/// `basic.ack`
pub(super) fn ack(channel: u16, tag: u64, multiple: bool) -> Vec<u8> {
    method(channel, (60, 80), &[&tag.to_be_bytes()[..], &[u8::from(multiple)]].concat())
}
