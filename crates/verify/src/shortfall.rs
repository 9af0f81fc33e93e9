//! Deliveries of one publisher's messages, and their absence.

/// A point of delivery: a queue, or a stream as one of its consumers reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeliveryPoint {
    pub(super) queue: u32,
    /// Present for a stream, of which each consumer receives every message.
    pub(super) consumer: Option<u32>,
    /// True for a stream that is not read from the beginning. Messages before its first one do not count.
    pub(super) joins_late: bool,
}

/// The verdict on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Correct delivery.
    Fine,
    /// Delivered before, and not marked as redelivered. `republished`: the publisher sent it again.
    Duplicate { republished: bool },
    /// A consumer of a stream subscribed again and rereads the message.
    ReadAgain,
    /// Not checked: older than the window.
    Unchecked,
}

/// Accepted messages that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// Messages that did not arrive, at least.
    pub(super) missing: u64,
    /// Messages after the last delivered one, where messages arrive in order.
    pub(super) tail: u64,
    /// Messages that cannot be judged.
    pub(super) unjudged: u64,
}

impl Shortfall {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            missing: self.missing + other.missing,
            tail: self.tail + other.tail,
            unjudged: self.unjudged + other.unjudged,
        }
    }
}

/// Counts of messages that have left the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EvictedCounts {
    /// Messages that were accepted, but not delivered when they left.
    pub(super) missing: u64,
    pub(super) unsure: u64,
    /// Deliveries of messages that had left already. Each may be one of those missing.
    pub(super) late: u64,
}

impl EvictedCounts {
    pub(super) fn leave(&mut self, missing: u64, unsure: u64) {
        self.missing += ones(missing & !unsure);
        self.unsure += ones(missing & unsure);
    }
}

pub(super) fn ones(bits: u64) -> u64 {
    u64::from(bits.count_ones())
}
