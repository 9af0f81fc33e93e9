//! The state of the consumers of one connection: their subscriptions, tasks and unacknowledged messages.

use std::ops::Range;

use rabbitscope_timing::RunInstant;
use rabbitscope_verify::Reader;

#[derive(Debug)]
pub(super) struct Consumer {
    pub(super) channel: u16,
    pub(super) received: u64,
    pub(super) start: RunInstant,
    pub(super) subscriptions: Range<usize>,
    /// The next subscription to poll.
    pub(super) next_poll: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Subscription {
    pub(super) consumer: usize,
    pub(super) queue: usize,
    /// Consumer and queue, for the check of deliveries.
    pub(super) reader: Reader,
    /// The slot of its latencies.
    pub(super) slot: u16,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unacknowledged {
    pub(super) count: u32,
    pub(super) last_tag: u64,
    /// Messages acknowledged since the last commit.
    pub(super) uncommitted: u32,
}
