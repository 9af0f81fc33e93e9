//! The settlement of messages: always alike, or refused by a share.

use rabbitscope_runs::{
    Draws, Random,
    scenario::{ConsumerGroup, Settle},
};

pub(super) struct Settling {
    settle: Settle,
    /// Draws settlements, with the number of the next message. Absent if all messages are settled alike.
    drawn: Option<(Draws, Vec<Settle>, u64)>,
}

impl Settling {
    pub(super) fn new(group: &ConsumerGroup, random: Random) -> Self {
        let refused = group.nack_share.unwrap_or(1.0);
        let mut shares = match group.requeue_share {
            Some(back) => {
                vec![(Settle::Requeue, refused * back), (Settle::Discard, refused * (1.0 - back))]
            }
            None => vec![(group.settle(), refused)],
        };
        if group.nack_share.is_some() {
            shares.push((Settle::Ack, 1.0 - refused));
        }
        let (settlements, weights): (Vec<_>, Vec<_>) = shares.into_iter().unzip();
        let drawn = (settlements.len() > 1).then(|| (Draws::new(random, &weights), settlements, 0));
        Self { settle: group.settle(), drawn }
    }

    /// Returns whether the next message is acknowledged.
    #[inline]
    pub(super) fn accepts_next(&self) -> bool {
        let settle = match &self.drawn {
            None => self.settle,
            Some((draws, settlements, number)) => settlements[draws.choice(number + 1)],
        };
        settle == Settle::Ack
    }

    /// Returns the settlement of the next messages.
    #[inline]
    pub(super) fn next(&mut self) -> Settle {
        let Some((draws, settlements, number)) = &mut self.drawn else { return self.settle };
        *number += 1;
        settlements[draws.choice(*number)]
    }
}
