//! Nagle's algorithm that waits for a delayed acknowledgement.
//!
//! A small segment; nothing in either direction but, after a delay as hosts use it, an acknowledgement of all; and at
//! once the next segment. One such sequence may be chance; who judges asks for several.

use std::time::Duration;

use super::observer::Stall;
use crate::packet::Timestamp;

/// Delays of acknowledgements: Linux waits for 40 ms at least, one tick of its clock more, and up to 200 ms (`TCP_DELACK_MIN`
/// and `TCP_DELACK_MAX` in its `include/net/tcp.h`), as BSD and Windows do.
const DELAYS: [(Duration, Duration); 2] = [
    (Duration::from_millis(35), Duration::from_millis(60)),
    (Duration::from_millis(180), Duration::from_millis(220)),
];

/// Who waits for an acknowledgement sends within this time.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A packet and its time.
#[derive(Clone, Copy, Debug)]
struct Seen {
    packet: u64,
    time: Timestamp,
}

/// How much of the sequence was seen in a direction.
#[derive(Debug, Default)]
pub(super) struct StallWatch {
    small: Option<Seen>,
    acknowledged: Option<(Seen, Seen)>,
    pub(super) stalls: u64,
    pub(super) stalled: Duration,
}

impl StallWatch {
    /// A segment with payload was sent; whether it was small.
    pub(super) fn sent(&mut self, packet: u64, time: Timestamp, is_small: bool) -> Option<Stall> {
        self.small = is_small.then_some(Seen { packet, time });
        let (small, acknowledgement) = self.acknowledged.take()?;
        if time.since(acknowledgement.time) > AT_ONCE {
            return None;
        }
        let waited = acknowledgement.time.since(small.time);
        self.stalls += 1;
        self.stalled += waited;
        Some(Stall {
            small_packet: small.packet,
            acknowledgement_packet: acknowledgement.packet,
            next_packet: packet,
            end: time,
            waited,
        })
    }

    /// The other end has acknowledged everything, and sent nothing else.
    pub(super) fn acknowledged(&mut self, packet: u64, time: Timestamp) {
        let Some(small) = self.small.take() else { return };
        let waited = time.since(small.time);
        if DELAYS.iter().any(|(least, most)| (*least..=*most).contains(&waited)) {
            self.acknowledged = Some((small, Seen { packet, time }));
        }
    }

    /// The other end has sent something, which acknowledges without a delay of its own.
    pub(super) fn answered(&mut self) {
        self.small = None;
        self.acknowledged = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets by their time in milliseconds: `s`mall, `f`ull, `a`cknowledgement, `d`ata of the other end.
    #[track_caller]
    fn check(packets: &[(char, u64)], expected: u64) {
        let mut watch = StallWatch::default();
        for (number, (kind, millis)) in (1..).zip(packets) {
            let time = Timestamp::from_unix_nanos(millis * 1_000_000);
            match kind {
                's' | 'f' => drop(watch.sent(number, time, *kind == 's')),
                'a' => watch.acknowledged(number, time),
                _ => watch.answered(),
            }
        }
        assert_eq!(watch.stalls, expected);
    }

    #[test]
    fn stalls_are_told_from_what_looks_similar() {
        check(&[('s', 0), ('a', 40), ('s', 40), ('a', 84), ('s', 85)], 2);
        check(&[('s', 0), ('a', 200), ('f', 200)], 1);
        check(&[('f', 0), ('a', 40), ('s', 40)], 0);
        check(&[('s', 0), ('a', 10), ('s', 10)], 0);
        check(&[('s', 0), ('a', 100), ('s', 100)], 0);
        check(&[('s', 0), ('a', 40), ('s', 50)], 0);
        check(&[('s', 0), ('d', 5), ('a', 40), ('s', 40)], 0);
        check(&[('s', 0), ('a', 40), ('d', 40), ('s', 40)], 0);
        check(&[('s', 0), ('s', 10), ('a', 40), ('s', 40)], 0);
    }

    #[test]
    fn a_stall_names_its_packets() {
        let mut watch = StallWatch::default();
        let at = |millis: u64| Timestamp::from_unix_nanos(millis * 1_000_000);
        watch.sent(5, at(100), true);
        watch.acknowledged(7, at(144));
        let stall = watch.sent(8, at(145), true).unwrap();
        let packets = (stall.small_packet, stall.acknowledgement_packet, stall.next_packet);
        assert_eq!((packets, stall.end), ((5, 7, 8), at(145)));
        assert_eq!(stall.waited, Duration::from_millis(44));
        assert_eq!(watch.stalled, stall.waited);
    }
}
