//! Deliveries that one publisher's messages had or did not have.

/// Where messages are delivered: a queue, or a stream as one of its consumers reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeliveryPoint {
    pub(super) queue: u32,
    /// Present for a stream, whose consumers receive every message each.
    pub(super) consumer: Option<u32>,
    /// Messages before its first one do not count: a stream that is not read from the beginning.
    pub(super) joins_late: bool,
}

/// The verdict on a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Correct.
    Fine,
    /// Delivered before, and not marked as redelivered. `republished`: the publisher had sent it
    /// again.
    Duplicate { republished: bool },
    /// A consumer of a stream subscribed again and reads the message again.
    ReadAgain,
    /// Older than the window: not checked.
    Unchecked,
}

/// Accepted messages that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// At least this number.
    pub(super) missing: u64,
    /// Messages after the last delivered one, where messages arrive in order.
    pub(super) tail: u64,
    /// Nothing can be said about these.
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
    /// Accepted and not delivered when it left.
    pub(super) missing: u64,
    pub(super) unsure: u64,
    /// Deliveries after they had left: each may be one of those missing.
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
