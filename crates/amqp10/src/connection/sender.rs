//! The link of a sender: its credit, and the numbers of its messages.

use crate::serial::Serial;

/// A link for sending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sender {
    /// Name of the link, unique between this client and the broker.
    pub name: String,
    /// Address of the target; absent if each message has its own.
    pub address: Option<String>,
    /// Largest number of frames of a message. [`Connection::room`](super::Connection::room) counts with it.
    pub frames: u32,
}

/// The state of a link for sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderLink {
    /// The `delivery-id` of the next message.
    next_id: Serial,
    /// The `delivery-count`.
    count: Serial,
    /// The `delivery-count` at which the credit ends.
    credit_end: Serial,
    /// Messages that have been sent in the session.
    sent: u64,
    frames: u32,
}

/// The first `delivery-count` and the first `delivery-id`.
pub(super) const FIRST: Serial = Serial(0);

impl SenderLink {
    pub(super) fn new(sender: &Sender) -> Self {
        Self::from_first(FIRST, sender.frames)
    }

    fn from_first(first: Serial, frames: u32) -> Self {
        Self { next_id: first, count: first, credit_end: first, sent: 0, frames: frames.max(1) }
    }

    /// Handles the link's part of the broker's `flow`. Without a count the broker has seen none yet.
    pub(super) fn flow(&mut self, delivery_count: Option<u32>, credit: u32) {
        self.credit_end = delivery_count.map_or(FIRST, Serial).plus(credit);
    }

    /// Returns the messages that may be sent.
    #[inline]
    pub(super) fn credit(&self) -> u32 {
        self.credit_end.since(self.count)
    }

    /// Returns the messages for which a window of so many frames has room.
    #[inline]
    pub(super) fn fitting(&self, frames: u32) -> u32 {
        self.credit().min(frames / self.frames)
    }

    /// Notes messages that are sent now. Returns the number of the first.
    #[inline]
    pub(super) fn send(&mut self, count: u32) -> u32 {
        let first = self.next_id;
        self.next_id = first.plus(count);
        self.count = self.count.plus(count);
        self.sent += u64::from(count);
        first.0
    }

    /// Returns the position of a sent message in the session, from 1; `None` if no message had this number.
    #[inline]
    pub(super) fn position(&self, delivery_id: u32) -> Option<u64> {
        let behind = u64::from(self.next_id.since(Serial(delivery_id)));
        (1..=self.sent).contains(&behind).then(|| self.sent + 1 - behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_counts_from_the_brokers_last_word() {
        let mut link = SenderLink::new(&Sender::default());
        assert_eq!(link.credit(), 0);
        link.flow(None, 170);
        assert_eq!((link.credit(), link.send(100), link.credit()), (170, 0, 70));
        link.flow(Some(85), 170);
        assert_eq!(link.credit(), 155);
        link.flow(Some(100), 0);
        assert_eq!((link.credit(), link.send(0)), (0, 100));
        // Credit that is taken back.
        link.flow(Some(90), 5);
        assert_eq!(link.credit(), 0);
    }

    #[test]
    fn numbers_pass_through_zero() {
        let mut link = SenderLink::from_first(Serial(u32::MAX - 3), 1);
        link.flow(Some(u32::MAX - 3), 10);
        assert_eq!((link.send(6), link.credit()), (u32::MAX - 3, 4));
        let positions = [u32::MAX - 4, u32::MAX - 3, u32::MAX, 0, 1, 2];
        let positions = positions.map(|id| link.position(id));
        assert_eq!(positions, [None, Some(1), Some(4), Some(5), Some(6), None]);
        link.flow(Some(0), 10);
        assert_eq!(link.credit(), 8);
    }

    #[test]
    fn large_messages_need_room_for_all_their_frames() {
        let mut link = SenderLink::new(&Sender { frames: 3, ..Sender::default() });
        link.flow(Some(0), 100);
        assert_eq!([2, 3, 11, 400].map(|frames| link.fitting(frames)), [0, 1, 3, 100]);
    }
}
