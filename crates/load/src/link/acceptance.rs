//! Acceptance of messages on a lane without confirms. A request behind the messages acts as a barrier: the broker answers
//! in turn, so that messages before the answer have been routed (AMQP 0-9-1) or read (MQTT).

use std::collections::VecDeque;

use rabbitscope_amqp::{Connection, Request};
use rabbitscope_mqtt as mqtt;
use rabbitscope_timing::{Nanos, RunInstant};

/// Divisor of a channel's message count: a barrier follows once that share of the messages has none. The unknown part
/// thus stays small. Chosen: 3 %.
const PART: u64 = 32;

/// Bounds of the messages between two barriers, where their number triggers a barrier. Chosen: few frames compared with
/// the messages, and several barriers a second with a broker that takes a few thousand messages.
const SPACING: (u64, u64) = (16, 1024);

/// Bytes of a barrier on the wire. A write leaves room for it, as it would otherwise be a segment of its own.
pub(super) const BARRIER_BYTES: usize = 13;

/// A connection on which a request can be a barrier.
pub(super) trait Barriers {
    /// Appends a barrier behind the messages of a lane.
    fn put_barrier(&mut self, lane: u16);
}

impl Barriers for Connection {
    fn put_barrier(&mut self, channel: u16) {
        self.request(channel, &Request::Flow { active: true });
    }
}

impl Barriers for mqtt::Connection {
    fn put_barrier(&mut self, _lane: u16) {
        self.ping();
    }
}

/// The barriers of a channel, and the messages before them.
#[derive(Debug, Default)]
pub(super) struct Acceptance {
    /// All messages of the channel.
    sent: u64,
    /// Messages since the last barrier.
    open: u64,
    /// Messages before each barrier without an answer, the oldest first.
    asked: VecDeque<u64>,
    /// Messages before all barriers without an answer.
    behind: u64,
    asked_at: RunInstant,
}

impl Acceptance {
    /// Notes `count` encoded messages. Returns true if a barrier must follow them. `interval` is the time between two
    /// barriers, where time triggers them.
    #[inline]
    pub(super) fn send(&mut self, count: u64, now: RunInstant, interval: Nanos) -> bool {
        self.sent += count;
        self.open += count;
        let (least, most) = SPACING;
        let is_due = self.open >= (self.sent / PART).clamp(least, most);
        self.open > 0 && (is_due || now >= self.asked_at + interval)
    }

    /// Returns whether messages were encoded that no barrier follows.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }

    /// Appends a barrier.
    pub(super) fn ask(&mut self, lane: u16, now: RunInstant, connection: &mut impl Barriers) {
        connection.put_barrier(lane);
        self.behind += self.open;
        self.asked.push_back(std::mem::take(&mut self.open));
        self.asked_at = now;
    }

    /// Notes the answer to the oldest barrier. Returns the messages before it; absent if no answer was due.
    pub(super) fn answered(&mut self) -> Option<u64> {
        let count = self.asked.pop_front()?;
        self.behind -= count;
        Some(count)
    }

    /// Returns the messages that are not known to be accepted by the broker.
    pub(super) fn unaccepted(&self) -> u64 {
        self.open + self.behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Nanos = Nanos::from_micros(50_000);

    fn at(millis: u64) -> RunInstant {
        RunInstant::from_nanos(millis * 1_000_000)
    }

    /// Returns the numbers, from 1, of the messages that a barrier follows if they are encoded in chunks of this size.
    fn barriers(chunk: u64, chunks: u64, now: impl Fn(u64) -> RunInstant) -> Vec<u64> {
        let mut acceptance = Acceptance::default();
        let due = (1..=chunks).filter(|number| {
            let is_due = acceptance.send(chunk, now(*number), INTERVAL);
            if is_due {
                acceptance.behind += acceptance.open;
                acceptance.asked.push_back(std::mem::take(&mut acceptance.open));
                acceptance.asked_at = now(*number);
            }
            is_due
        });
        due.map(|number| number * chunk).collect()
    }

    #[test]
    fn barriers_follow_a_part_of_the_messages() {
        assert_eq!(barriers(1, 50, |_| at(1)), [16, 32, 48]);
        let many = barriers(64, 10_000, |_| at(1));
        assert!(many.windows(2).all(|pair| pair[1] - pair[0] <= 1024 + 64), "{many:?}");
        assert!(many.len() < 900, "{}", many.len());
    }

    #[test]
    fn barriers_follow_after_a_time() {
        assert_eq!(barriers(1, 12, |number| at(number * 10)), [5, 10]);
    }

    #[test]
    fn answers_come_in_turn() {
        let mut acceptance = Acceptance { open: 3, ..Acceptance::default() };
        acceptance.asked.extend([5, 7]);
        acceptance.behind = 12;
        assert_eq!((acceptance.unaccepted(), acceptance.is_open()), (15, true));
        assert_eq!([acceptance.answered(), acceptance.answered()], [Some(5), Some(7)]);
        assert_eq!((acceptance.answered(), acceptance.unaccepted()), (None, 3));
    }
}
