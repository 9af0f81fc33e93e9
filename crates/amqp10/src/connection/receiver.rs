//! The link of a receiver: the credit that it gives, and the message that arrives.

use crate::{filter::Filter, serial::Serial};

/// A link for receiving.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receiver {
    /// Name of the link, unique between this client and the broker.
    pub name: String,
    /// Address of the source.
    pub address: String,
    /// True if messages are settled when they are sent.
    pub settled: bool,
    /// Messages that the broker may send ahead: those that are not processed, and those that it may still send.
    pub credit: u32,
    /// Priority among the readers of a queue.
    pub priority: Option<i32>,
    /// Filters. [`Connection::missing_filters`](super::Connection::missing_filters) has those that the broker lacks.
    pub filters: Vec<Filter>,
}

/// The state of a link for receiving.
#[derive(Debug)]
pub(super) struct ReceiverLink {
    credit: u32,
    /// The `delivery-count`.
    count: Serial,
    /// Messages that were received and not processed.
    unprocessed: u32,
    /// Messages that were processed since the broker last heard of the credit.
    processed: u32,
    /// Number of the last message. Its low bits are its `delivery-id`.
    last_number: Option<u64>,
    pub(super) arriving: Option<Arriving>,
    /// Names of the filters, until the broker has answered. Then those that it lacks.
    pub(super) filters: Vec<&'static str>,
}

/// A message whose frames have not all arrived.
#[derive(Debug)]
pub(super) struct Arriving {
    pub(super) number: u64,
    pub(super) settled: bool,
    pub(super) bytes: Vec<u8>,
}

impl ReceiverLink {
    pub(super) fn new(receiver: &Receiver) -> Self {
        Self {
            credit: receiver.credit,
            count: Serial(0),
            unprocessed: 0,
            processed: 0,
            last_number: None,
            arriving: None,
            filters: receiver.filters.iter().map(Filter::name).collect(),
        }
    }

    /// Handles the broker's `attach`.
    pub(super) fn attached(&mut self, initial_delivery_count: u32) {
        self.count = Serial(initial_delivery_count);
    }

    /// Returns the whole number of a message.
    #[inline]
    pub(super) fn number(&mut self, delivery_id: u32) -> u64 {
        let number = match self.last_number {
            Some(last) => last + u64::from(Serial(delivery_id).since(low(last))),
            None => delivery_id.into(),
        };
        self.last_number = Some(number);
        number
    }

    /// Notes a message that has arrived.
    #[inline]
    pub(super) fn received(&mut self) {
        self.count = self.count.plus(1);
        self.unprocessed = self.unprocessed.saturating_add(1);
    }

    /// Notes messages that were processed. Returns true if the broker should hear of it: at half the credit, so that it
    /// need not wait.
    #[inline]
    pub(super) fn processed(&mut self, count: u32) -> bool {
        self.unprocessed = self.unprocessed.saturating_sub(count);
        self.processed = self.processed.saturating_add(count);
        self.credit > 0 && self.processed >= self.credit.div_ceil(2)
    }

    pub(super) fn set_credit(&mut self, credit: u32) {
        self.credit = credit;
    }

    /// Returns `delivery-count` and `link-credit` for a `flow`, which tells all credit.
    pub(super) fn tell_credit(&mut self) -> (u32, u32) {
        self.processed = 0;
        (self.count.0, self.credit.saturating_sub(self.unprocessed))
    }
}

/// Returns the `delivery-id` of a whole number.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the protocol has the low bits")]
pub(super) fn low(number: u64) -> Serial {
    Serial(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_told_at_half_and_never_exceeds_the_limit() {
        let mut link = ReceiverLink::new(&Receiver { credit: 10, ..Receiver::default() });
        link.attached(u32::MAX);
        assert_eq!(link.tell_credit(), (u32::MAX, 10));
        (0..7).for_each(|_| link.received());
        assert!(!link.processed(4));
        assert!(link.processed(1));
        assert_eq!(link.tell_credit(), (6, 8), "two are not processed");
        link.set_credit(0);
        assert!(!link.processed(2));
        assert_eq!(link.tell_credit(), (6, 0));
    }

    #[test]
    fn one_message_at_a_time_needs_a_word_for_each() {
        let mut link = ReceiverLink::new(&Receiver { credit: 1, ..Receiver::default() });
        link.received();
        assert_eq!(link.tell_credit(), (1, 0));
        assert!(link.processed(1));
        assert_eq!(link.tell_credit(), (1, 1));
    }

    #[test]
    fn numbers_go_on_where_those_of_the_protocol_begin_anew() {
        let mut link = ReceiverLink::new(&Receiver::default());
        let numbers = [u32::MAX - 3, u32::MAX, 0, 5].map(|id| link.number(id));
        let first = u64::from(u32::MAX - 3);
        assert_eq!(numbers, [first, first + 3, first + 4, first + 9]);
        assert_eq!(numbers.map(|number| low(number).0), [u32::MAX - 3, u32::MAX, 0, 5]);
    }
}
