//! Deliveries that one publisher's messages had or did not have.

/// Where messages are delivered: a queue, or a stream as one of its consumers reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeliveryPoint {
    pub(super) place: u32,
    /// Of a stream, whose consumers get every message each.
    pub(super) consumer: Option<u32>,
    /// Messages from before its first one are none of its business: a stream, read from where it is.
    pub(super) joins_late: bool,
}

/// What a delivery was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As it should be.
    Fine,
    /// Delivered before, and not marked; `republished`: the publisher had sent it again.
    Duplicate { republished: bool },
    /// A consumer began again and reads what it has read.
    ReadAgain,
    /// Older than the window.
    Unchecked,
}

/// Accepted messages that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// That many at least.
    pub(super) missing: u64,
    /// Those behind the last one that arrived, where messages arrive in order.
    pub(super) tail: u64,
    /// It cannot be told of these.
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

/// What left the window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EvictedCounts {
    /// Accepted and not delivered when it left.
    pub(super) missing: u64,
    pub(super) unsure: u64,
    /// Deliveries that came afterwards: each may be one of those missing.
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
