//! The settlement of messages: always alike, or refused by a share.

use rabbitscope_runs::{
    Draws, Random,
    scenario::{ConsumerGroup, Settle},
};

pub(super) struct Settling {
    settle: Settle,
    /// Draws refusals, with the number of the next message. Absent if all messages are settled alike.
    refusals: Option<(Draws, u64)>,
}

impl Settling {
    pub(super) fn new(group: &ConsumerGroup, random: Random) -> Self {
        let refusals = group.nack_share.map(|share| (Draws::new(random, &[share, 1.0 - share]), 0));
        Self { settle: group.settle(), refusals }
    }

    /// Returns whether the next message is acknowledged.
    #[inline]
    pub(super) fn accepts_next(&self) -> bool {
        match &self.refusals {
            None => self.settle == Settle::Ack,
            Some((draws, number)) => draws.choice(number + 1) != 0,
        }
    }

    /// Returns the settlement of the next messages.
    #[inline]
    pub(super) fn next(&mut self) -> Settle {
        let Some((draws, number)) = &mut self.refusals else { return self.settle };
        *number += 1;
        if draws.choice(*number) == 0 { self.settle } else { Settle::Ack }
    }
}
