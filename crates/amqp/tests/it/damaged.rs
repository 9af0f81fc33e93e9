//! Damaged input ends in events or an error, never in a panic or an endless loop.

use rabbitscope_amqp::{ConnectionError, Event};
use rabbitscope_protocol::{Input, Wire as _};

use crate::{connection, play};

const CONSUMER: &[u8] = include_bytes!("recorded/consumer.bin");

/// The recording up to the opening of a channel.
fn opened() -> Vec<u8> {
    let needle = [1, 0, 1, 0, 0, 0, 8, 0, 20, 0, 11, 0, 0, 0, 0, 0xce];
    let at = CONSUMER.windows(needle.len()).position(|window| window == needle).unwrap();
    CONSUMER[..at + needle.len()].to_vec()
}

fn frame(kind: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&channel.to_be_bytes());
    bytes.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes.push(0xce);
    bytes
}

fn deliver(tag: u8) -> Vec<u8> {
    let mut payload = vec![0, 60, 0, 60, 1, b'0'];
    payload.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, tag, 0, 0, 1, b'q']);
    payload
}

fn header(size: u64) -> Vec<u8> {
    let mut payload = vec![0, 60, 0, 0];
    payload.extend_from_slice(&size.to_be_bytes());
    payload.extend_from_slice(&[0, 0]);
    payload
}

/// Returns the bodies of the deliveries, or the error. All sizes of reads must agree.
fn bodies(frames: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, ConnectionError> {
    let bytes = [opened(), frames.concat()].concat();
    let read = |piece: usize| {
        let mut bodies = Vec::new();
        let outcome = play(&bytes, piece, |event| {
            if let Event::Delivery(delivery) = event {
                bodies.push(delivery.body.to_vec());
            }
        });
        outcome.map(|_| bodies)
    };
    let whole = read(bytes.len());
    for piece in 1..40 {
        assert_eq!(read(piece), whole, "in pieces of {piece}");
    }
    whole
}

#[test]
fn bodies_in_many_frames() {
    let frames = [
        frame(1, 1, &deliver(1)),
        frame(2, 1, &header(5)),
        frame(3, 1, b"ab"),
        frame(8, 0, b""),
        frame(3, 1, b"cde"),
        frame(1, 1, &deliver(2)),
        frame(2, 1, &header(0)),
    ];
    assert_eq!(bodies(&frames), Ok(vec![b"abcde".to_vec(), vec![]]));
}

#[test]
fn frames_in_the_wrong_place_are_refused() {
    fn check(frames: &[Vec<u8>], expected: &str) {
        let message = bodies(frames).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    check(&[frame(3, 1, b"x")], "a body on channel 1, where it is not allowed");
    check(&[frame(2, 1, &header(1))], "a content header on channel 1");
    check(&[frame(1, 9, &deliver(1)), frame(2, 9, &header(0))], "on channel 9");
    let twice = [frame(1, 1, &deliver(1)), frame(1, 1, &deliver(2)), frame(2, 1, &header(0))];
    check(&twice, "a message on channel 1");
    let long = [frame(1, 1, &deliver(1)), frame(2, 1, &header(1)), frame(3, 1, b"xy")];
    check(&long, "longer than its header says");
    check(&[frame(1, 1, &deliver(1)), frame(2, 1, &header(1 << 40))], "above 1 GiB");
    check(&[frame(1, 1, &[0, 99, 0, 1])], "unknown method 99.1");
    check(&[frame(1, 1, &[0, 60, 0, 60, 200])], "malformed method: short of bytes");
    check(&[frame(1, 0, &[0, 10, 0, 41])], "a method on channel 0");
    check(&[vec![1, 0, 1, 0, 0, 0, 0, 7]], "ends in 0x07");
    check(&[vec![1, 0, 1, 0, 2, 0, 0]], "the limit is 131072");
}

#[test]
fn closing_words_of_the_broker_are_kept() {
    let mut close = vec![0, 10, 0, 50, 1, 64, 15];
    close.extend_from_slice(b"CONNECTION_FORC\0\0\0\0");
    let error = bodies(&[frame(1, 0, &close)]).unwrap_err();
    assert_eq!(error.to_string(), "the broker closed the connection: CONNECTION_FORC");
}

/// Pseudo-random generator xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).unwrap()
    }
}

#[test]
fn random_bytes_end() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let mut bytes = if random.below(2) == 0 { opened() } else { Vec::new() };
        let kinds = [1, 2, 3, 8];
        for _ in 0..random.below(8) {
            let payload: Vec<_> = (0..random.below(40)).map(|_| random.byte()).collect();
            let channel = u16::try_from(random.below(3)).unwrap();
            bytes.extend(frame(kinds[random.below(4)], channel, &payload));
        }
        bytes.extend((0..random.below(64)).map(|_| random.byte()));
        let mut connection = connection();
        let mut frames = Input::new(&bytes);
        let mut events = 0;
        while let Ok(Some(_)) = connection.next_event(&mut frames) {
            events += 1;
            assert!(events <= bytes.len(), "every event takes at least a byte");
        }
        assert!(frames.consumed() <= bytes.len());
    }
}

#[test]
fn damaged_recordings_end() {
    let mut random = Random(5);
    for _ in 0..20_000 {
        let mut bytes = CONSUMER.to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes[at] = random.byte(),
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, random.byte()),
            }
        }
        let piece = 1 + random.below(bytes.len());
        drop(play(&bytes, piece, |_| {}));
    }
}
