//! Waits of Nagle's algorithm for delayed acknowledgements.
//!
//! The sequence begins with a small segment. Then, after a typical delay, comes an acknowledgement of all, with no
//! other packet in either direction. The next segment follows at once. One such sequence may be chance; the rule that
//! judges them requires several.

use std::time::Duration;

use super::observer::Stall;
use crate::packet::Timestamp;

/// Delays of acknowledgements. Linux waits for at least 40 ms plus a tick of its clock, and up to 200 ms, like BSD and
/// Windows. See `TCP_DELACK_MIN` and `TCP_DELACK_MAX` in its `include/net/tcp.h`.
const DELAYS: [(Duration, Duration); 2] = [
    (Duration::from_millis(35), Duration::from_millis(60)),
    (Duration::from_millis(180), Duration::from_millis(220)),
];

/// Time within which a sender that waits for an acknowledgement sends after it.
const AT_ONCE: Duration = Duration::from_millis(1);

/// A packet and its time.
#[derive(Clone, Copy, Debug)]
struct Seen {
    packet: u64,
    time: Timestamp,
}

/// The part of the sequence that was seen in a direction.
#[derive(Debug, Default)]
pub(super) struct StallWatch {
    small: Option<Seen>,
    acknowledged: Option<(Seen, Seen)>,
    pub(super) stalls: u64,
    pub(super) stalled: Duration,
}

impl StallWatch {
    /// Records a segment with payload. Returns the wait that it ends, if any.
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

    /// Records that the other end has acknowledged everything and sent nothing else.
    pub(super) fn acknowledged(&mut self, packet: u64, time: Timestamp) {
        let Some(small) = self.small.take() else { return };
        let waited = time.since(small.time);
        if DELAYS.iter().any(|(least, most)| (*least..=*most).contains(&waited)) {
            self.acknowledged = Some((small, Seen { packet, time }));
        }
    }

    /// Records that the other end has sent data, which acknowledges without a delay of its own.
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
