//! Publishes right before acknowledgements on the same channel, as those of relays.

use rabbitscope_runs::Random;

/// Number of pairs from which on a relay shows.
const PAIRS_MIN: u64 = 20;
/// Share of the publishes that are in pairs.
const PAIRED_MIN: f64 = 0.95;
/// Share of the pairs that are closer than a random moment. Without a connection between both it is a half.
const CLOSE_MIN: f64 = 0.85;

/// Publishes and acknowledgements of a channel, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// Publishes since the last acknowledgement, and the time of the last one.
    publishes: u64,
    last_published: u64,
    last_settled: Option<u64>,
}

/// Counts of the acknowledgements of a consumer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Relayed {
    /// Acknowledgements of one message right after a publish that came later than that message.
    pub(crate) pairs: u64,
    /// Those of them that followed sooner than a random moment since the acknowledgement before.
    close: u64,
}

impl Turns {
    pub(crate) fn publish(&mut self, now: u64) {
        self.publishes += 1;
        self.last_published = now;
    }

    /// Records a settlement, of one message that was delivered at a time, or of several. Returns what it shows.
    pub(crate) fn settle(
        &mut self,
        now: u64,
        delivered: Option<u64>,
        random: &mut Random,
    ) -> Relayed {
        let publishes = std::mem::take(&mut self.publishes);
        let last = self.last_settled.replace(now);
        let (Some(delivered), Some(last)) = (delivered, last) else { return Relayed::default() };
        if publishes != 1 || delivered > self.last_published {
            return Relayed::default();
        }
        let moment = random.below(now.saturating_sub(last).saturating_add(1));
        let is_close = now.saturating_sub(self.last_published) <= moment;
        Relayed { pairs: 1, close: u64::from(is_close) }
    }

    /// Forgets the order, because frames were missed.
    pub(crate) fn miss(&mut self) {
        *self = Self::default();
    }
}

impl Relayed {
    pub(crate) const fn add(&mut self, other: Self) {
        self.pairs += other.pairs;
        self.close += other.close;
    }

    /// Returns whether the consumer published so many messages because of those that it read.
    pub(crate) fn is_relay(self, published: u64) -> bool {
        let pairs = self.pairs as f64;
        self.pairs >= PAIRS_MIN
            && pairs >= PAIRED_MIN * published as f64
            && self.close as f64 >= CLOSE_MIN * pairs
    }
}
